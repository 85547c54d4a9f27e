import WayValues

extension BridgeClient {
  /// A call that an interceptor decides about.
  public struct InterceptedCall: Sendable {
    /// The URI, after redirects.
    public let uri: String
    /// Path, query and the caller's parameters, merged.
    public let params: ValueObject
    /// Extensions that are not business data, as the caller passed them.
    public let exts: ValueObject
    /// The name of the declared route; nil if there is none.
    public let route: String?
    /// The caller; nil if the server does not send it.
    public let caller: CallerDescription?

    /// Creates a call, for tests of an interceptor.
    public init(
      uri: String, params: ValueObject = [:], exts: ValueObject = [:], route: String? = nil,
      caller: CallerDescription? = nil
    ) {
      self.uri = uri
      self.params = params
      self.exts = exts
      self.route = route
      self.caller = caller
    }
  }

  /// The decision of an interceptor.
  public enum InterceptorDecision: Sendable, Hashable {
    /// The call continues with the next interceptor, then with its gates and its handler or host.
    case next
    /// The call continues like ``next``, with these parameters instead of all parameters of the call.
    case change(params: ValueObject)
    /// The call continues with another URI and its interceptors. If `params` is nil, the caller's
    /// parameters stay.
    case redirect(to: String, params: ValueObject? = nil)
    /// The call fails with 2423 and this reason.
    case refuse(String)
  }

  /// The code that decides about calls of the session. It runs on the main actor if it is isolated to it,
  /// otherwise on the client's thread, which it must not block. Its Swift task is cancelled when the call
  /// does not wait for the decision any more.
  ///
  /// A ``CallError`` with a code of the application (1…1999, from 3000) is the error of the call; any other
  /// error refuses the call.
  public typealias InterceptorHandler =
    @Sendable (InterceptedCall) async throws -> InterceptorDecision

  /// Asks an interceptor. Without it, because it was removed while the question was on its way, the call
  /// continues.
  func decideInterception(_ params: Value, _ call: ServerRequest) throws(CallError) {
    let message: InterceptorQuestion
    do { message = try params.decode(as: InterceptorQuestion.self) } catch {
      throw .invalidParams("router.intercept cannot be read: \(error)")
    }
    let intercepted = InterceptedCall(
      uri: message.uri, params: message.params, exts: message.exts ?? [:], route: message.route,
      caller: CallerDescription(params["caller"]))
    let interceptor = hosts.interceptor(message.name)
    startWork(call) {
      let decision = try await interceptor?(intercepted) ?? .next
      return try ValueEncoder().encode(InterceptorResponse(decision))
    }
  }
}

/// The params of `router.intercept`, without the caller.
private struct InterceptorQuestion: Decodable {
  let name: String
  let uri: String
  let params: ValueObject
  let exts: ValueObject?
  let route: String?
}

extension BridgeClient.InterceptorDecision {
  /// Decodes the result of `router.intercept`. Throws a `DecodingError` for one that is not a decision.
  package init(response: Value) throws {
    guard response != .null else {
      self = .next
      return
    }
    let given = try response.decode(as: InterceptorResponse.self)
    switch given.decision {
    case .next: self = .next
    case .change: self = .change(params: given.params ?? [:])
    case .redirect: self = .redirect(to: given.uri ?? "", params: given.params)
    case .refuse: self = .refuse(given.reason ?? "the interceptor refused it")
    }
  }
}

/// The result of `router.intercept`.
private struct InterceptorResponse: Codable {
  enum DecisionName: String, Codable {
    case next, change, redirect, refuse
  }

  let decision: DecisionName
  var uri: String?
  var params: ValueObject?
  var reason: String?

  init(_ given: BridgeClient.InterceptorDecision) {
    switch given {
    case .next: decision = .next
    case .change(let params): (decision, self.params) = (.change, params)
    case .redirect(let uri, let params):
      (decision, self.uri, self.params) = (.redirect, uri, params)
    case .refuse(let reason): (decision, self.reason) = (.refuse, reason)
    }
  }
}
