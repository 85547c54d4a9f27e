import Synchronization
import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// A module that is registered by type. The table declares its routes; the first call loads their
/// handlers.
private enum Shop: RouteModule {
  static let loadCount = Mutex(0)

  static func routes() throws -> [Route] {
    [Route(name: "greet", patterns: [try RoutePattern("action://greet/:name")], kind: .task)]
  }

  static func register(in router: Router) async throws {
    loadCount.withLock { $0 += 1 }
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

/// Modules that load when one of their routes is first called, over the wire.
@Suite(.timeLimit(.minutes(1)))
final class LazyModuleTests: Sendable {
  private let router = Router()
  private let loadCount = Mutex(0)

  private func makeTaskRoute(_ name: String) throws -> Route {
    Route(name: name, patterns: [try RoutePattern("action://\(name)")], kind: .task)
  }

  private func invoke(_ client: WireClient, _ id: Value, _ uri: String) async throws -> Value {
    try await client.call(id, "router.invoke", ["uri": .string(uri)])
    let response = try await client.response(id)
    return response["error"]?["code"] ?? response["result"] ?? .null
  }

  @Test func firstCallsWaitForModule() async throws {
    let gate = Mailbox<Bool>()
    try router.registerModule("shop", routes: [makeTaskRoute("a"), makeTaskRoute("b")]) { router in
      self.loadCount.withLock { $0 += 1 }
      _ = try await gate.receive()
      try router.handle("a", with: .task { call in .object(call.params) })
      try router.handle("b", with: .asyncTask { _ in "b" })
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call(0, "router.canOpen", ["uri": "action://a"])
    #expect(
      try await client.response(0)["result"] == ["canOpen": true, "kind": "task", "route": "a"])
    #expect(self.loadCount.withLock { $0 } == 0)
    try await client.call(1, "router.invoke", ["uri": "action://a?x=1", "params": ["y": 2]])
    try await client.call(2, "router.invoke", ["uri": "action://b"])
    try await client.call(3, "router.invoke", ["uri": "action://b"])
    try await client.notify("$/cancelRequest", ["id": 3])
    #expect(try await client.response(3)["error"]?["code"] == -32800)
    gate.put(true)
    #expect(try await client.response(1)["result"] == ["x": "1", "y": 2])
    #expect(try await invoke(client, 4, "action://b") == "b")
    #expect(self.loadCount.withLock { $0 } == 1)
  }

  @Test func loadsModuleAndServiceRegisteredByType() async throws {
    try router.register(module: Shop.self)
    try router.register(service: Names.self)
    try await router.start()
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await invoke(client, 1, "service://Names/greeting?name=Bo") == "Hello, Bo")
    #expect(Shop.loadCount.withLock { $0 } == 0)
    #expect(try await invoke(client, 2, "action://greet/Ada") == "Hello, Ada")
    #expect(try await invoke(client, 3, "action://greet/Eve") == "Hello, Eve")
    #expect(Shop.loadCount.withLock { $0 } == 1)
  }

  @Test func retriesFailedModuleOnNextCall() async throws {
    try router.registerModule("shop", routes: [makeTaskRoute("a")]) { router in
      let load = self.loadCount.withLock { loads in
        loads += 1
        return loads
      }
      if load == 1 { throw CallError(code: 7, message: "no network") }
      try router.handle("a", with: .task { _ in "served" })
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await invoke(client, 1, "action://a") == -32603)
    #expect(try await invoke(client, 2, "action://a") == "served")
  }

  @Test func failsWhenModuleRegistersNoHandler() async throws {
    try router.registerModule("shop", routes: [makeTaskRoute("a")]) { _ in }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await invoke(client, 1, "action://a") == -32603)
  }

  @Test func runsInterceptorsOfModuleOnceOnFirstCall() async throws {
    try router.registerModule("shop", routes: [makeTaskRoute("a")]) { router in
      router.intercept("own", on: .routes(["a"])) { _ in
        self.loadCount.withLock { $0 += 1 }
        return .next
      }
      try router.handle("a", with: .task { _ in "served" })
    }
    router.intercept("before") { _ in
      self.loadCount.withLock { $0 += 10 }
      return .next
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    #expect(try await invoke(client, 1, "action://a") == "served")
    #expect(self.loadCount.withLock { $0 } == 11)
  }
}
