import Synchronization
import Waybridge

protocol Cart: Sendable {
  func add(_ item: String) -> Int
}

final class MemoryCart: Cart {
  private let items = Mutex<[String]>([])

  func add(_ item: String) -> Int {
    items.withLock { items in
      items.append(item)
      return items.count
    }
  }
}

extension MemoryCart: RouteService {
  static let name = "Cart"

  static func make(for router: Router) -> any Cart {
    print("the cart is made")
    return MemoryCart()
  }

  static func methods(_ service: inout ServiceMethods<any Cart>) {
    service.method("add", parameters: [.init("item", .string, isRequired: true)]) {
      cart, call in
      ["count": .integer(Int64(cart.add(call.params["item"]?.string ?? "")))]
    }
  }
}
