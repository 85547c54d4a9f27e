// The kinds of patterns in a table, which has equally many routes of each.
enum PatternKind: String, CaseIterable {
  case literals
  case parameters
  case groups = "optional groups"
  case wildcard

  // The `index`th pattern. All literals are siblings below one segment, the others are in
  // sections of a hundred.
  func pattern(_ index: Int) -> String {
    let section = index / 100
    return switch self {
    case .literals: "native://shop/item\(index)"
    case .parameters: "native://user/section\(section)/item\(index)/:id/orders/:order"
    case .groups: "native://list/section\(section)/item\(index)(/page/:page)(/sort/:by)"
    case .wildcard: "native://files/section\(section)/item\(index)/*"
    }
  }

  /// A URI that the `index`th pattern matches and no other; `variant` chooses among those.
  func uri(_ index: Int, _ variant: Int) -> String {
    let section = index / 100
    switch self {
    case .literals: return "native://shop/item\(index)"
    case .parameters:
      return "native://user/section\(section)/item\(index)/\(variant)/orders/\(variant + 1)"
    case .groups:
      let page = variant % 2 == 0 ? "/page/\(variant)" : ""
      let sort = variant % 3 == 0 ? "/sort/price" : ""
      return "native://list/section\(section)/item\(index)\(page)\(sort)"
    case .wildcard: return "native://files/section\(section)/item\(index)/a/b\(variant)/c.txt"
    }
  }

  // A URI similar to the `index`th pattern that no pattern matches.
  func miss(_ index: Int) -> String {
    let section = index / 100
    return switch self {
    case .literals: "native://shop/item\(index)x"
    case .parameters: "native://user/section\(section)/item\(index)/7/orders"
    case .groups: "native://list/section\(section)/item\(index)/page"
    case .wildcard: "native://files/section\(section)/none\(index)/a"
    }
  }
}
