import Synchronization
import TestSupport
import Testing
import Waybridge
import WaybridgeTesting

/// Services that the app, tasks and clients call by URI.
@Suite(.timeLimit(.minutes(1)))
final class ServiceCallTests: Sendable {
  private let router = Router()
  private let instanceCount = Mutex(0)

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
    try router.registerService(Cart.self, name: "Cart") {
      self.instanceCount.withLock { $0 += 1 }
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

  @Test func callsMethodsByURIFromClientsAndApp() async throws {
    try register()
    let swift: Cart = try router.service()
    try router.task("action://add") { call in
      try await call.navigator.invoke("service://Cart/add", ["count": 10])
    }
    let app = try await TestBridge(router)
    let other = try await app.connect()
    #expect(try await app.invoke("service://Cart/add?count=1") == 1)
    #expect(try await other.invoke("SERVICE://cart/add", ["count": 2]) == 3)
    #expect(try await other.invoke("service://Cart/addLater", ["count": 3]) == ["total": 6])
    #expect(try await app.invoke("action://add") == 16)
    #expect(swift.add(0) == 16)
    #expect(instanceCount.withLock { $0 } == 1)
    #expect(try await app.open("service://Cart/add?count=4") == .finished(data: 20))
  }

  @Test(
    arguments: [
      ("service://Cart/add", 2422, "$.count"), ("service://Cart/add?count=x", 2422, "$.count"),
      ("service://Cart/addLater?count=x", 2422, "$.count"), ("service://Cart/none", 2404, nil),
      ("service://Other/add", 2404, nil),
    ] as [(String, Int, String?)])
  func reportsInvalidCallsLikeATask(uri: String, code: Int, path: String?) async throws {
    try register()
    let app = try await TestBridge(router)
    let error = await #expect(throws: CallError.self) { try await app.invoke(uri) }
    #expect(error?.code == code)
    #expect(error?.data?["errors"]?.array?.first?["path"]?.string == path)
  }
}
