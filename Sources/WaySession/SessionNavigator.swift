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
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Outcome {
    let options = CallOptions(
      exts: exts, style: style, from: page, deadline: deadline?.asTimer, carried: Carried(carrying))
    return try Outcome(wire: try await own.call(.open, uri, params, options))
  }

  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Value {
    let options = CallOptions(
      exts: exts, from: page, deadline: deadline?.asTimer, carried: Carried(carrying))
    return try await own.call(.invoke, uri, params, options)
  }

  func invoke<Back: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable], carryingBack type: Back.Type
  ) async throws -> Back {
    let carried = Carried(carrying, back: type)
    let options = CallOptions(
      exts: exts, from: page, deadline: deadline?.asTimer, carried: carried)
    _ = try await own.call(.invoke, uri, params, options)
    guard let brought = carried.brought, let back = brought as? Back else {
      throw RPCError(
        .internal, "\(uri.quoted) has carried nothing back: its caller wants a \(type)"
      ).taskError
    }
    return back
  }

  func canOpen(_ uri: String) async -> Bool {
    await own.canOpen(uri)
  }

  func call(page: String, _ method: String, params: ValueObject) async throws -> Value {
    try await own.callPage(page, method, params, timeout: nil).get()
  }

  func back(_ count: Int, result: PageResult?) async throws -> NavigationChange {
    try await own.back(.count(count), result)
  }

  func back(to page: String, result: PageResult?) async throws -> NavigationChange {
    try await own.back(.to(page), result)
  }

  func back(before page: String, result: PageResult?) async throws -> NavigationChange {
    try await own.back(.before(page), result)
  }

  func backToRoot(result: PageResult?) async throws -> NavigationChange {
    try await own.back(.root, result)
  }

  func finish(_ result: PageResult?, page given: String?) async throws -> NavigationChange {
    guard let page = given ?? page else {
      throw RPCError.invalidParams("Name the page to finish: this code runs on behalf of none")
        .taskError
    }
    return try await own.finish(page, result)
  }

  func selectTab(_ index: Int) async throws -> NavigationChange {
    try await own.select(.index(index))
  }

  func selectTab(_ uri: String) async throws -> NavigationChange {
    try await own.select(.uri(uri))
  }

  func stack() async -> NavigationStack {
    await own.stack
  }

  func contains(_ page: String) async -> Page? {
    await own.page(page)
  }
}
