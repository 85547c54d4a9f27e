import WayValues

/// The pages that an edit of the stack removes, among those that are shown; `Reference` is the type
/// that names a page.
public enum PageRange<Reference: Sendable>: Sendable {
  /// One page, anywhere on the stack. Those above it stay.
  case page(Reference)
  /// The pages from one to another, both included, in either order.
  case between(Reference, Reference)
  /// A page and all above it.
  case from(Reference)
  /// All pages above this one.
  case above(Reference)
  /// All pages that are shown: those of the selected tab, or of no tab, with the modals over them.
  case all

  /// Returns the range with pages named in another way.
  package func map<Other: Sendable>(_ name: (Reference) -> Other) -> PageRange<Other> {
    switch self {
    case .page(let page): .page(name(page))
    case .between(let page, let other): .between(name(page), name(other))
    case .from(let page): .from(name(page))
    case .above(let page): .above(name(page))
    case .all: .all
    }
  }
}

extension PageRange: Codable where Reference == String {
  private enum CodingKeys: String, CodingKey {
    case page, from, through, above, all
  }

  /// Reads the member `remove` of the params of `navigation.edit`.
  public init(from decoder: any Decoder) throws {
    let range = try decoder.container(keyedBy: CodingKeys.self)
    let page = try range.decodeIfPresent(String.self, forKey: .page)
    let from = try range.decodeIfPresent(String.self, forKey: .from)
    let through = try range.decodeIfPresent(String.self, forKey: .through)
    let above = try range.decodeIfPresent(String.self, forKey: .above)
    let all = try range.decodeIfPresent(Bool.self, forKey: .all)
    switch (page, from, through, above, all) {
    case (let page?, nil, nil, nil, nil): self = .page(page)
    case (nil, let from?, nil, nil, nil): self = .from(from)
    case (nil, let from?, let through?, nil, nil): self = .between(from, through)
    case (nil, nil, nil, let above?, nil): self = .above(above)
    case (nil, nil, nil, nil, true?): self = .all
    default:
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "has to have one of page, from, above and all; through goes with from"))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var range = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .page(let page): try range.encode(page, forKey: .page)
    case .between(let page, let other):
      try range.encode(page, forKey: .from)
      try range.encode(other, forKey: .through)
    case .from(let page): try range.encode(page, forKey: .from)
    case .above(let page): try range.encode(page, forKey: .above)
    case .all: try range.encode(true, forKey: .all)
    }
  }
}

/// A page that an edit of the stack opens.
public struct AddedPage: Sendable {
  /// The URI of the page.
  public var uri: String
  /// The parameters of the page, in addition to those of the URI.
  public var params: ValueObject
  /// Options for the host of the page, for example `animated`.
  public var exts: ValueObject
  /// `push` or `present`; `nil` is that of the route if it is one of them, and `push` otherwise.
  public var style: Style?

  /// Creates a page to open.
  public init(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil
  ) {
    self.uri = uri
    self.params = params
    self.exts = exts
    self.style = style
  }
}

extension AddedPage: Codable {
  private enum CodingKeys: String, CodingKey {
    case uri, params, exts, style
  }

  /// Reads an element of the member `open` of the params of `navigation.edit`.
  public init(from decoder: any Decoder) throws {
    let page = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try page.decode(String.self, forKey: .uri),
      try page.decodeIfPresent(ValueObject.self, forKey: .params) ?? [:],
      exts: try page.decodeIfPresent(ValueObject.self, forKey: .exts) ?? [:],
      style: try page.decodeIfPresent(Style.self, forKey: .style))
  }

  public func encode(to encoder: any Encoder) throws {
    var page = encoder.container(keyedBy: CodingKeys.self)
    try page.encode(uri, forKey: .uri)
    if !params.isEmpty { try page.encode(params, forKey: .params) }
    if !exts.isEmpty { try page.encode(exts, forKey: .exts) }
    try page.encodeIfPresent(style, forKey: .style)
  }
}

/// The params of `navigation.edit`.
package struct StackEditMessage: Encodable {
  private let remove: PageRange<String>?
  private let open: [AddedPage]?
  private let exts: ValueObject?
  private let key: String?

  package init(
    _ remove: PageRange<String>?, opening pages: [AddedPage], exts: ValueObject, key: String? = nil
  ) {
    self.remove = remove
    open = pages.isEmpty ? nil : pages
    self.exts = exts.isEmpty ? nil : exts
    self.key = key
  }

  /// The params as a value.
  package var value: ValueObject { (try? ValueEncoder().encode(self))?.object ?? [:] }
}
