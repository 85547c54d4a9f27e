import Waybridge

/// The demo's shop: its products, the cart of each session, and the orders, which all sessions
/// share.
final class DemoShop: Sendable {
  private struct Product {
    let sku: String
    let name: String
    /// The price in cents.
    let price: Int64
  }

  private struct DemoCart: Codable {
    let session: String
    var counts: [Int64]
  }

  private struct ShopOrder: Codable {
    let number: Int64
    let name: String
    var state: String
  }

  private struct ShopState: Codable {
    /// The number of carts that are stored; the oldest is dropped first.
    static let maxCarts = 1000
    var carts: [DemoCart] = []
    var orders = [
      ShopOrder(number: 1041, name: "Trail mug", state: "delivered"),
      ShopOrder(number: 1042, name: "Rain cape", state: "open"),
      ShopOrder(number: 1043, name: "Tin lantern", state: "open"),
    ]
  }

  private static let products = [
    Product(sku: "trail-mug", name: "Trail mug", price: 2400),
    Product(sku: "rain-cape", name: "Rain cape", price: 7900),
    Product(sku: "tin-lantern", name: "Tin lantern", price: 3150),
  ]
  /// The largest count of one product in a cart.
  private static let maxCount: Int64 = 99

  private let events: DemoEvents
  private let store: DemoStore<ShopState>

  init(events: DemoEvents, storedIn folder: String) throws {
    self.events = events
    store = try DemoStore("shop", in: folder, else: ShopState())
  }

  /// Registers the handlers of the shop's tasks and service in the table.
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
    try store.update { state in
      if !state.carts.contains(where: { $0.session == session }) {
        if state.carts.count == ShopState.maxCarts { state.carts.removeFirst() }
        state.carts.append(DemoCart(session: session, counts: Self.products.map { _ in 0 }))
      }
      guard let cartIndex = state.carts.firstIndex(where: { $0.session == session }) else { return }
      let sum = state.carts[cartIndex].counts[index] + count
      state.carts[cartIndex].counts[index] = min(sum, Self.maxCount)
    }
    let cart = cart(in: session)
    try await events.publish("cart.changed", cart, to: .session(session))
    return cart
  }

  @Sendable private func cancel(_ call: Call) async throws -> Value {
    let number = call.params["number"]?.integer
    let order: ShopOrder? = try store.update { state in
      guard let index = state.orders.firstIndex(where: { $0.number == number }) else { return nil }
      state.orders[index].state = "cancelled"
      return state.orders[index]
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
    let stored = store.value.carts.first { $0.session == session }
    let counts = stored?.counts ?? Self.products.map { _ in 0 }
    let lines = zip(Self.products, counts).filter { $0.1 > 0 }
    return [
      "count": .integer(lines.reduce(0) { $0 + $1.1 }),
      "total": Self.money(lines.reduce(0) { $0 + $1.0.price * $1.1 }),
      "lines": .array(
        lines.map { product, count in
          [
            "sku": .string(product.sku), "name": .string(product.name), "count": .integer(count),
            "price": Self.money(product.price),
          ]
        }),
    ]
  }

  /// The index of the product in a call's parameters.
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
