import WayRPC
import WayTransport
import WayValues

/// The params of `session.resume`.
struct ResumeRequest: Sendable {
  let claim: ResumeClaim
  /// The params for a new session, if the client cannot resume.
  let open: SessionOpenRequest

  /// A later client may send other members to this server.
  static let paramList = ParamList(
    [
      Param(.client, .string), Param(.token, .string), Param(.epoch, .string),
      Param(.received, .any), Param(.sent, .any), Param(.reloaded, .bool), Param(.open, .object),
    ], ignoresOthers: true)

  /// Throws -32602, with `kind` "version" as `session.open` does. If `digest` is given, another
  /// server has replaced the tokens (``RelayedTokens``).
  init(
    _ request: Request, limits: Limits, digest: PresentedToken.TokenDigest? = nil
  ) throws(CallError) {
    let params = try Params(request.params, of: request.method, taking: Self.paramList)
    guard let received = try params.number(.received) else {
      throw .invalidParams("params.received is missing")
    }
    let client = try params.required(.client)
    claim = ResumeClaim(
      client: client,
      token: PresentedToken(try params.required(.token), digest: digest, in: client),
      epoch: try params.required(.epoch), lastReceived: received,
      lastSent: try params.number(.sent), isReloaded: params.bool(.reloaded) ?? false)
    open = try SessionOpenRequest(
      Request(
        id: request.id, method: "params.open of session.resume",
        params: .object(params.object(.open) ?? [:])), limits: limits, digest: digest)
  }
}

extension Params {
  /// The number of a message; nil if it is absent. Throws -32602 for any other value, also for a
  /// number so large that the numbers after it could not be stored.
  fileprivate func number(_ name: ParamName) throws(CallError) -> UInt64? {
    guard let value = self[name], !value.isNull else { return nil }
    let maxNumber: Int64 = 1 << 53 - 1
    guard let number = value.exactInteger, (0...maxNumber).contains(number) else {
      throw .invalidParams("params.\(name.wireName) must be an integer from 0 to \(maxNumber)")
    }
    return UInt64(number)
  }
}
