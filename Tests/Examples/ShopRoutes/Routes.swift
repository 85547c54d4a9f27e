// swift-format-ignore-file
// Made by `waybridge routes generate` from version 1.0 of the route table
// (hash 5ab8b17e7275573e). Change the table, not this file.

import WaybridgeClient

/// The patterns of the routes, by the names of the routes.
public enum Routes {
  /// Which state of the table this is made from.
  public static let table = TableStamp(version: "1.0", hash: "5ab8b17e7275573e")
  /// Choose an address
  public static let addressSelect = "native://address/select/:country"
  /// Choose an address
  public static let addressSelect2 = "native://address/select"
  /// Put something into the cart
  public static let cartAdd = "action://cart/add"
  /// Ask where to, and put something into the cart
  public static let order = "action://order"
}

public struct Address: Codable, Hashable, Sendable {
  public var id: String
  public var city: String
  /// What the carrier is told.
  public var note: String?

  public init(id: String, city: String, note: String?) {
    self.id = id
    self.city = city
    self.note = note
  }

  private enum CodingKeys: String, CodingKey {
    case id = "id"
    case city = "city"
    case note = "note"
  }

  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(self.id, forKey: .id)
    try members.encode(self.city, forKey: .city)
    try members.encode(self.note, forKey: .note)
  }
}

public enum AddressSelectSort: String, Codable, Hashable, Sendable, CaseIterable {
  case name = "name"
  case nearest = "nearest"
}

public struct CartAddResult: Codable, Hashable, Sendable {
  public var count: Int

  public init(count: Int) {
    self.count = count
  }

  private enum CodingKeys: String, CodingKey {
    case count = "count"
  }
}

public struct CartChangedData: Codable, Hashable, Sendable {
  public var count: Int

  public init(count: Int) {
    self.count = count
  }

  private enum CodingKeys: String, CodingKey {
    case count = "count"
  }
}

extension PageCall where Result == Address {
  /// Choose an address
  ///
  /// - Parameter city: Where to begin.
  /// - Parameter sort: Where it is left out: "name".
  public static func addressSelect(country: String? = nil, city: String? = nil, sort: AddressSelectSort = .name) -> PageCall {
    PageCall(["native://address/select/:country", "native://address/select"], ["country": country, "city": city, "sort": sort])
  }
}

extension PageMethodCall where Result == String {
  public static func addressSelectScroll(to: String) -> PageMethodCall {
    PageMethodCall("scroll", ["to": to])
  }
}

extension ValueCall where Result == CartAddResult {
  /// Put something into the cart
  public static func cartAdd(item: String, deliverTo: Address? = nil) -> ValueCall {
    ValueCall(["action://cart/add"], ["item": item, "deliverTo": deliverTo])
  }
}

extension ValueCall where Result == String? {
  /// Ask where to, and put something into the cart
  public static func order(item: String) -> ValueCall {
    ValueCall(["action://order"], ["item": item])
  }
}

extension EventTopic where Data == CartChangedData {
  /// The cart has changed.
  public static var cartChanged: EventTopic { EventTopic("cart.changed") }
}
