import Synchronization
import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Registered by its type; its routes come from the declaration, and their handlers with the first
/// call.
private enum Shop: RouteModule {
  static let loads = Mutex(0)

  static func routes() throws -> [Route] {
    [Route(name: "greet", patterns: [try RoutePattern("action://greet/:name")], kind: .task)]
  }

  static func register(in router: Router) async throws {
    loads.withLock { $0 += 1 }
    await Task.yield()
    let names = try router.service(Names.self)
    try router.handle(
      "greet", with: .task { call in .string(names.greeting(call.params["name"]?.string ?? "")) })
  }
}

private struct Names: Sendable, RouteService {
  func greeting(_ name: String) -> String { "Hello, \(name)" }

  static func make(for router: Router) -> Names { Names() }
  static func methods(_ service: inout ServiceMethods<Names>) {
    service.method("greeting") { names, call in
      .string(names.greeting(call.params["name"]?.string ?? ""))
    }
  }
}

/// Modules that register when their first route is called, over the wire.
@Suite(.timeLimit(.minutes(1)))
final class LazyModuleTests: Sendable {
  private let router = Router()
  private let loads = Mutex(0)

  private func task(_ name: String) throws -> Route {
    Route(name: name, patterns: [try RoutePattern("action://\(name)")], kind: .task)
  }

  private func code(_ client: WireClient, _ id: Value, _ uri: String) async throws -> Value {
    try await client.call(id, "router.invoke", ["uri": .string(uri)])
    let answer = try await client.answer(id)
    return answer["error"]?["code"] ?? answer["result"] ?? .null
  }

  @Test func theFirstCallsWaitForTheModuleAndAreServed() async throws {
    let gate = Mailbox<Bool>()
    try router.module("shop", routes: [task("a"), task("b")]) { router in
      self.loads.withLock { $0 += 1 }
      _ = try await gate.take()
      try router.handle("a", with: .task { call in .object(call.params) })
      try router.handle("b", with: .asyncTask { _ in "b" })
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call(0, "router.canOpen", ["uri": "action://a"])
    #expect(
      try await client.answer(0)["result"] == ["canOpen": true, "kind": "task", "route": "a"])
    #expect(self.loads.withLock { $0 } == 0)
    try await client.call(1, "router.invoke", ["uri": "action://a?x=1", "params": ["y": 2]])
    try await client.call(2, "router.invoke", ["uri": "action://b"])
    try await client.call(3, "router.invoke", ["uri": "action://b"])
    try await client.notify("$/cancelRequest", ["id": 3])
    #expect(try await client.answer(3)["error"]?["code"] == -32800)
    gate.put(true)
    #expect(try await client.answer(1)["result"] == ["x": "1", "y": 2])
    #expect(try await code(client, 4, "action://b") == "b")
    #expect(self.loads.withLock { $0 } == 1)
  }

  @Test func aModuleAndAServiceRegisteredByTypeServeTheirFirstCalls() async throws {
    try router.register(module: Shop.self)
    try router.register(service: Names.self)
    try await router.start()
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await code(client, 1, "service://Names/greeting?name=Bo") == "Hello, Bo")
    #expect(Shop.loads.withLock { $0 } == 0)
    #expect(try await code(client, 2, "action://greet/Ada") == "Hello, Ada")
    #expect(try await code(client, 3, "action://greet/Eve") == "Hello, Eve")
    #expect(Shop.loads.withLock { $0 } == 1)
  }

  @Test func aModuleThatFailsIsTriedAgainByTheNextCall() async throws {
    try router.module("shop", routes: [task("a")]) { router in
      let load = self.loads.withLock { loads in
        loads += 1
        return loads
      }
      if load == 1 { throw CallError(code: 7, message: "no network") }
      try router.handle("a", with: .task { _ in "served" })
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await code(client, 1, "action://a") == -32603)
    #expect(try await code(client, 2, "action://a") == "served")
  }

  @Test func aModuleThatGivesNoHandlerIsAnError() async throws {
    try router.module("shop", routes: [task("a")]) { _ in }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await code(client, 1, "action://a") == -32603)
  }

  @Test func interceptorsThatAModuleBringsSeeItsFirstCallOnce() async throws {
    try router.module("shop", routes: [task("a")]) { router in
      router.intercept("own", on: .routes(["a"])) { _ in
        self.loads.withLock { $0 += 1 }
        return .next
      }
      try router.handle("a", with: .task { _ in "served" })
    }
    router.intercept("before") { _ in
      self.loads.withLock { $0 += 10 }
      return .next
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await code(client, 1, "action://a") == "served")
    #expect(self.loads.withLock { $0 } == 11)
  }
}
