import WayRPC
import WayRouting
import WayValues

/// Lets a Swift task of a session use the router that called it.
struct SessionNavigator: Navigator {
  let own: Session
  /// The page on whose behalf the task runs.
  let page: String?

  var session: String { own.id }

  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style, deadline: Duration?
  ) async throws -> Outcome {
    let options = CallOptions(exts: exts, style: style, from: page, deadline: deadline?.asTimer)
    return try Outcome(wire: try await own.call(.open, uri, params, options))
  }

  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?
  ) async throws -> Value {
    let options = CallOptions(exts: exts, from: page, deadline: deadline?.asTimer)
    return try await own.call(.invoke, uri, params, options)
  }

  func canOpen(_ uri: String) async -> Bool {
    await own.canOpen(uri)
  }

  func call(page: String, _ method: String, params: ValueObject) async throws -> Value {
    try await own.callPage(page, method, params, timeout: nil).get()
  }
}
