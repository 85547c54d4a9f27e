import Synchronization
import TestSupport
import Testing
import WayRouting
import WaySession
import WayValues

/// Modules that register when their first route is called, over the wire.
@Suite(.timeLimit(.minutes(1)))
final class LazyModuleTests: Sendable {
  private let router = Router()
  private let loads = Mutex(0)

  private func task(_ name: String) throws -> Route {
    Route(name: name, patterns: [try RoutePattern("action://\(name)")], kind: .task)
  }

  private func code(_ client: TestClient, _ id: Value, _ uri: String) async throws -> Value {
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
    let client = try await TestClient.connect(to: TestBridge(router))
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

  @Test func aModuleThatFailsIsTriedAgainByTheNextCall() async throws {
    try router.module("shop", routes: [task("a")]) { router in
      let load = self.loads.withLock { loads in
        loads += 1
        return loads
      }
      if load == 1 { throw TaskError(code: 7, message: "no network") }
      try router.handle("a", with: .task { _ in "served" })
    }
    let client = try await TestClient.connect(to: TestBridge(router))
    #expect(try await code(client, 1, "action://a") == -32603)
    #expect(try await code(client, 2, "action://a") == "served")
  }

  @Test func aModuleThatGivesNoHandlerIsAnError() async throws {
    try router.module("shop", routes: [task("a")]) { _ in }
    let client = try await TestClient.connect(to: TestBridge(router))
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
    let client = try await TestClient.connect(to: TestBridge(router))
    #expect(try await code(client, 1, "action://a") == "served")
    #expect(self.loads.withLock { $0 } == 11)
  }
}
