import Waybridge

/// The demo's shop: what it sells, the cart of each session, and the orders, which are the same for
/// all.
final class DemoShop: Sendable {
  private struct Product {
    let sku: String
    let name: String
    /// In cents.
    let price: Int64
  }

  private struct Cart: Codable {
    let session: String
    var counts: [Int64]
  }

  private struct Order: Codable {
    let number: Int64
    let name: String
    var state: String
  }

  private struct State: Codable {
    /// How many carts are remembered; the oldest is forgotten first.
    static let limit = 1000
    var carts: [Cart] = []
    var orders = [
      Order(number: 1041, name: "Trail mug", state: "delivered"),
      Order(number: 1042, name: "Rain cape", state: "open"),
      Order(number: 1043, name: "Tin lantern", state: "open"),
    ]
  }

  private static let products = [
    Product(sku: "trail-mug", name: "Trail mug", price: 2400),
    Product(sku: "rain-cape", name: "Rain cape", price: 7900),
    Product(sku: "tin-lantern", name: "Tin lantern", price: 3150),
  ]
  /// How many of one product a cart holds.
  private static let most: Int64 = 99

  private let events: DemoEvents
  private let memory: DemoStore<State>

  init(events: DemoEvents, keptIn folder: String) throws {
    self.events = events
    memory = try DemoStore("shop", in: folder, else: State())
  }

  /// Binds the tasks of the table that are about the shop, and its service.
  func register(in router: Router) throws {
    try router.handle("cartAdd", with: .asyncTask(add))
    try router.handle("cartContents", with: .task { self.cart(in: $0.navigator.session) })
    try router.handle("cancelOrder", with: .asyncTask(cancel))
    try router.handle("quote", with: .task(quote))
  }

  @Sendable private func add(_ call: Call) async throws -> Value {
    let index = try Self.product(in: call)
    let session = call.navigator.session
    let count = Self.count(in: call)
    try memory.change { state in
      if !state.carts.contains(where: { $0.session == session }) {
        if state.carts.count == State.limit { state.carts.removeFirst() }
        state.carts.append(Cart(session: session, counts: Self.products.map { _ in 0 }))
      }
      guard let place = state.carts.firstIndex(where: { $0.session == session }) else { return }
      let sum = state.carts[place].counts[index] + count
      state.carts[place].counts[index] = min(sum, Self.most)
    }
    let cart = cart(in: session)
    try await events.publish("cart.changed", cart, to: .session(session))
    return cart
  }

  @Sendable private func cancel(_ call: Call) async throws -> Value {
    let number = call.params["number"]?.integer
    let order: Order? = try memory.change { state in
      guard let place = state.orders.firstIndex(where: { $0.number == number }) else { return nil }
      state.orders[place].state = "cancelled"
      return state.orders[place]
    }
    guard let order else {
      throw CallError(code: 1404, message: "There is no order \(number ?? 0)")
    }
    try await events.publish(
      "order.changed", ["id": .integer(order.number), "state": "cancelled"], to: .all)
    return [
      "id": .integer(order.number), "name": .string(order.name), "state": .string(order.state),
    ]
  }

  @Sendable private func quote(_ call: Call) throws -> Value {
    Self.money(Self.products[try Self.product(in: call)].price * Self.count(in: call))
  }

  private func cart(in session: String) -> Value {
    let kept = memory.value.carts.first { $0.session == session }
    let counts = kept?.counts ?? Self.products.map { _ in 0 }
    let lines = zip(Self.products, counts).filter { $0.1 > 0 }
    return [
      "count": .integer(lines.reduce(0) { $0 + $1.1 }),
      "total": Self.money(lines.reduce(0) { $0 + $1.0.price * $1.1 }),
      "lines": .list(
        lines.map { product, count in
          [
            "sku": .string(product.sku), "name": .string(product.name), "count": .integer(count),
            "price": Self.money(product.price),
          ]
        }),
    ]
  }

  /// The place of the product that a call is about.
  private static func product(in call: Call) throws -> Int {
    let sku = call.params["sku"]?.string ?? ""
    guard let index = products.firstIndex(where: { $0.sku == sku }) else {
      throw CallError(code: 1404, message: "The shop sells no '\(sku)'")
    }
    return index
  }

  private static func count(in call: Call) -> Int64 { call.params["count"]?.integer ?? 1 }

  private static func money(_ amount: Int64) -> Value {
    ["amount": .integer(amount), "currency": "EUR"]
  }
}
