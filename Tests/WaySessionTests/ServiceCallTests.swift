import Synchronization
import TestSupport
import Testing
import WayRouting
import WaySession
import WayValues

/// Services, called by URI from every end.
@Suite(.timeLimit(.minutes(1)))
final class ServiceCallTests: Sendable {
  private let router = Router()
  private let made = Mutex(0)

  private final class Cart: Sendable {
    private let items = Mutex(0)

    func add(_ count: Int) -> Int {
      items.withLock {
        $0 += count
        return $0
      }
    }
  }

  private struct Addition: Decodable {
    let count: Int
  }

  private func register() throws {
    try router.service(Cart.self, name: "Cart") {
      self.made.withLock { $0 += 1 }
      return Cart()
    } methods: { service in
      service.method("add", parameters: [.init("count", .integer, isRequired: true)]) {
        cart, call in .integer(Int64(cart.add(Int(call.params["count"]?.integer ?? 0))))
      }
      service.method("addLater") { (cart, addition: Addition) in
        await Task.yield()
        return ["total": cart.add(addition.count)]
      }
    }
  }

  @Test func aMethodIsCalledByItsURIFromClientsAndFromSwift() async throws {
    try register()
    let swift: Cart = try router.service()
    try router.task("action://add") { call in
      try await call.navigator.invoke("service://Cart/add", ["count": 10])
    }
    let bridge = TestBridge(router)
    let first = try await TestClient.connect(to: bridge)
    let second = try await TestClient.connect(to: bridge)
    #expect(try await first.invoke("service://Cart/add?count=1")["result"] == 1)
    #expect(try await second.invoke("SERVICE://cart/add", ["count": 2])["result"] == 3)
    #expect(
      try await second.invoke("service://Cart/addLater", ["count": 3])["result"] == ["total": 6])
    #expect(try await first.invoke("action://add")["result"] == 16)
    #expect(swift.add(0) == 16)
    #expect(made.withLock { $0 } == 1)
    try await first.call(1, "router.open", ["uri": "service://Cart/add?count=4"])
    #expect(
      try await first.answer(1)["result"]
        == ["outcome": "finished", "code": 0, "message": "", "data": 20])
  }

  @Test(
    arguments: [
      ("service://Cart/add", 2422, "$.count"), ("service://Cart/add?count=x", 2422, "$.count"),
      ("service://Cart/addLater?count=x", 2422, "$.count"), ("service://Cart/none", 2404, nil),
      ("service://Other/add", 2404, nil),
    ] as [(String, Int64, String?)])
  func whatIsWrongIsToldAsOfATask(uri: String, code: Int64, path: String?) async throws {
    try register()
    let client = try await TestClient.connect(to: TestBridge(router))
    let error = try await client.invoke(uri)["error"]
    #expect(error?["code"]?.integer == code)
    #expect(error?["data"]?["errors"]?.list?.first?["path"]?.string == path)
  }
}
