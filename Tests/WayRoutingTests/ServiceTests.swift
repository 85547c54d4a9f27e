import Synchronization
import Testing
import WayRouting
import WayValues

private protocol Cart: Sendable {
  func add(_ item: String) -> Int
}

private final class LiveCart: Cart {
  private let items = Mutex<[String]>([])

  func add(_ item: String) -> Int {
    items.withLock {
      $0.append(item)
      return $0.count
    }
  }
}

private struct CartItem: Codable, Sendable {
  let name: String
}

@Suite(.timeLimit(.minutes(1)))
final class ServiceTests: Sendable {
  private let router = Router()
  private let createdCount = Mutex(0)

  private func run(_ uri: String, _ params: ValueObject = [:]) async throws -> Value {
    let match = try router.match(uri, params)
    let call = Call(uri: match.uri, params: match.params, exts: [:], navigator: StubNavigator())
    switch match.route.handler {
    case .task(let run): return try run(call)
    case .asyncTask(let run): return try await run(call)
    default: throw NoMatchError(uri: uri)
    }
  }

  private func registerCart() throws {
    try router.registerService((any Cart).self, name: "Cart") {
      self.createdCount.withLock { $0 += 1 }
      return LiveCart()
    } methods: { service in
      service.method("add") { cart, call in
        .integer(Int64(cart.add(call.params["name"]?.string ?? "")))
      }
      service.method("addTyped", parameters: [.init("name", .string, isRequired: true)]) {
        (cart, item: CartItem) in
        await Task.yield()
        return ["count": cart.add(item.name)]
      }
    }
  }

  @Test func `a service is created once on first use`() async throws {
    try registerCart()
    #expect(self.createdCount.withLock { $0 } == 0)
    #expect(try await run("service://cart/add?name=tea") == 1)
    #expect(try router.service((any Cart).self).add("pear") == 2)
    let cart: any Cart = try router.service()
    #expect(cart.add("plum") == 3)
    #expect(try await run("service://Cart/addTyped", ["name": "fig"]) == ["count": 4])
    await withTaskGroup { group in
      for _ in 0..<50 { group.addTask { _ = try? self.router.service((any Cart).self) } }
    }
    #expect(self.createdCount.withLock { $0 } == 1)
    #expect(router.snapshot().routes.map(\.name) == ["Cart.add", "Cart.addTyped"])
    #expect(router.snapshot().routes.allSatisfy { $0.kind == .service })
  }

  @Test func `checks the parameters of a method`() throws {
    try registerCart()
    let error = #expect(throws: RouterResolutionError.self) {
      try router.match("service://Cart/addTyped")
    }
    #expect(error?.description == "$.name: is missing; it has to be a string")
  }

  @Test func `rejects unknown and cyclic services`() throws {
    let router = Router()
    #expect(throws: ServiceError.unknown("Cart")) { try router.service((any Cart).self) }
    try router.registerService(Int.self, name: "Number") { try router.service(String.self).count }
    try router.registerService(String.self, name: "Text") { "\(try router.service(Int.self))" }
    #expect(throws: ServiceError.cycle("Number")) { try router.service(Int.self) }
    #expect(throws: ServiceError.cycle("Text")) { try router.service(String.self) }
    try router.registerService(String.self, name: "Text") { "four" }
    #expect(try router.service(Int.self) == 4)
  }

  @Test func `retries a service whose creation failed`() throws {
    let tries = Mutex(0)
    try router.registerService(Int.self, name: "Number") {
      try tries.withLock {
        $0 += 1
        if $0 == 1 { throw CallError(code: 1, message: "not yet") }
        return $0
      }
    }
    #expect(throws: CallError.self) { try router.service(Int.self) }
    #expect(try router.service(Int.self) == 2)
    #expect(try router.service(Int.self) == 2)
  }

  @Test func `a call error names the service that failed`()
    async throws
  {
    let own = CallError(code: 7, message: "closed")
    for (name, error) in [("Number", NoMatchError(uri: "x")), ("Closed", own)]
      as [(String, any Error)]
    {
      try router.registerService(Int.self, name: name) {
        throw error
      } methods: { service in
        service.method("get") { number, _ in .integer(Int64(number)) }
        service.method("wait") { number, _ async in .integer(Int64(number)) }
      }
    }
    for method in ["get", "wait"] {
      let error = await #expect(throws: CallError.self) {
        try await run("service://Number/\(method)")
      }
      #expect(
        error?.message == #"The service "Number" could not be created: NoMatchError(uri: "x")"#)
      #expect(error.map { ErrorCode.isApplication($0.code) } == false)
      await #expect(throws: own) { try await run("service://Closed/\(method)") }
    }
  }

  @Test func `removing a service removes its methods`() throws {
    try registerCart()
    #expect(router.removeService((any Cart).self))
    #expect(!router.removeService((any Cart).self))
    #expect(router.snapshot().routes.isEmpty)
    #expect(throws: ServiceError.self) { try router.service((any Cart).self) }
  }

  @Test func `an invalid method registers nothing`() throws {
    let error = #expect(throws: RouterConfigurationError.self) {
      try router.registerService(Int.self, name: "Number") {
        1
      } methods: { service in
        service.method("good") { _, _ in nil }
        service.method("bad name") { _, _ in nil }
      }
    }
    #expect(error?.description.contains("service://Number/bad name") == true)
    #expect(router.snapshot().routes.isEmpty)
    #expect(throws: ServiceError.self) { try router.service(Int.self) }
  }
}
