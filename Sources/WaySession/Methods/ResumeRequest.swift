import WayRPC
import WayValues

/// What a client says with `session.resume`.
struct ResumeRequest: Sendable {
  let claim: ResumeClaim
  /// What it says to a new session.
  let open: OpenRequest

  static let takes: ParamList = [
    Param(.client, .string), Param(.token, .string), Param(.epoch, .string),
    Param(.received, .any), Param(.sent, .any), Param(.reloaded, .bool), Param(.open, .object),
  ]

  /// Fails with -32602, and `kind` "version" as `session.open` does.
  init(_ request: Request, limits: Limits) throws(CallError) {
    let params = try Params(request.params, of: request.method, taking: Self.takes)
    guard let received = try params.number(.received) else {
      throw .invalidParams("params.received must be an integer that is not negative")
    }
    claim = ResumeClaim(
      client: try params.required(.client), token: try params.required(.token),
      epoch: try params.required(.epoch), received: received,
      sent: try params.number(.sent), isReloaded: params.bool(.reloaded) ?? false)
    open = try OpenRequest(
      Request(
        id: request.id, method: "params.open of session.resume",
        params: .object(params.object(.open) ?? [:])), limits: limits)
  }
}

extension Params {
  /// The number of a message; nil where it is absent. Fails with -32602 for what is none.
  fileprivate func number(_ name: ParamName) throws(CallError) -> UInt64? {
    guard let value = self[name], !value.isNull else { return nil }
    guard let number = value.integer, number >= 0 else {
      throw .invalidParams("params.\(name.text) must be an integer that is not negative")
    }
    return UInt64(number)
  }
}
