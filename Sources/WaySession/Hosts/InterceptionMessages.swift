import WayRPC
import WayRouting
import WayValues

/// The params of `router.intercept`, the request to the client of an interceptor.
struct InterceptionRequest: Encodable {
  /// The name of the interceptor.
  let name: String
  let uri: String
  let params: ValueObject
  let exts: ValueObject
  /// The name of the declared route; `nil` if there is none.
  let route: String?
  let caller: Value

  init(_ name: String, about call: Call) {
    self.name = name
    uri = call.uri.text
    params = call.params
    exts = call.exts
    route = call.route?.name
    caller = call.caller.value
  }
}

/// The response to `router.intercept`.
struct InterceptionResponse: Decodable {
  enum Decision: String, Decodable {
    case next, change, redirect, refuse
  }

  let decision: Decision
  let params: ValueObject?
  let uri: String?
  let reason: String?
}

extension Interception {
  /// Reads the result of `router.intercept`; null is ``next``. Throws a text for people if it is wrong.
  init(_ result: Value) throws {
    guard !result.isNull else {
      self = .next
      return
    }
    let response: InterceptionResponse = try RecordCoder.decode(
      from: result, "the response of router.intercept")
    switch response.decision {
    case .next: self = .next
    case .change:
      guard let params = response.params else { throw WrongInterception(missing: "params") }
      self = .change(params: params)
    case .redirect:
      guard let uri = response.uri else { throw WrongInterception(missing: "uri") }
      self = .redirect(to: uri, params: response.params)
    case .refuse: self = .refuse(response.reason ?? "the interceptor refused it")
    }
  }
}

/// A response to `router.intercept` without the member that its decision needs.
private struct WrongInterception: Error, CustomStringConvertible {
  let missing: String
  var description: String { "its response has no \(missing)" }
}
