/// An object with ordered members. Names are compared as UTF-8 bytes.
///
/// A lookup walks small objects and uses an index in large ones, so that its time does not depend
/// on the data of a peer.
public struct ValueObject: Sendable {
  /// One name with its value.
  public struct ObjectMember: Sendable {
    /// The name, unique in its object, as UTF-8 bytes.
    public let name: String
    /// The value of the name.
    public var value: Value

    /// Creates a member, for comparison with those of an object.
    @inlinable
    public init(name: String, value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// The members in order.
  public private(set) var members: [ObjectMember]
  private var index: [UTF8Key: Int]?

  private static let smallCount = 16

  /// Creates an empty object.
  public init() {
    members = []
  }

  /// Creates an object with the members in order. If a name occurs twice, the last value is at the
  /// place of the first.
  public init(_ members: some Sequence<(String, Value)>) {
    self.init()
    self.members.reserveCapacity(members.underestimatedCount)
    for (name, value) in members { set(name, value) }
  }

  /// Creates an object with members whose names are known to differ.
  package init(distinct members: [ObjectMember]) {
    self.members = members
    indexIfLarge()
  }

  /// Reserves capacity for a number of members, before they are set one by one.
  public mutating func reserveCapacity(_ count: Int) {
    members.reserveCapacity(count)
  }

  /// The number of members.
  public var count: Int { members.count }

  /// Whether there are no members.
  public var isEmpty: Bool { members.isEmpty }

  /// The value of a member. Setting nil removes the member and keeps the order of the others.
  public subscript(name: String) -> Value? {
    get {
      position(of: name).map { members[$0].value }
    }
    set {
      if let newValue { return set(name, newValue) }
      guard let found = position(of: name) else { return }
      members.remove(at: found)
      index = nil
      indexIfLarge()
    }
  }

  private mutating func set(_ name: String, _ value: Value) {
    if let found = position(of: name) { members[found].value = value } else { append(name, value) }
  }

  /// Sets all members of `other` in order, and overrides existing ones.
  public mutating func merge(_ other: ValueObject) {
    if isEmpty {
      self = other
      return
    }
    for member in other.members { set(member.name, member.value) }
  }

  private mutating func append(_ name: String, _ value: Value) {
    if index != nil { index?[UTF8Key(name)] = members.count }
    members.append(ObjectMember(name: name, value: value))
    indexIfLarge()
  }

  private mutating func indexIfLarge() {
    guard index == nil, members.count > Self.smallCount else { return }
    var built: [UTF8Key: Int] = [:]
    for (position, member) in members.enumerated() { built[UTF8Key(member.name)] = position }
    index = built
  }

  private func position(of name: String) -> Int? {
    if let index { return index[UTF8Key(name)] }
    return members.firstIndex { $0.name.isSameUTF8(as: name) }
  }
}

extension ValueObject: Hashable {
  /// Objects are equal if they have the same members, in any order.
  public static func == (left: ValueObject, right: ValueObject) -> Bool {
    left.count == right.count
      && left.members.allSatisfy { right[$0.name] == $0.value }
  }

  public func hash(into hasher: inout Hasher) {
    var mixed = 0
    for member in members {
      var hash = Hasher()
      member.name.hashUTF8(into: &hash)
      hash.combine(member.value)
      mixed ^= hash.finalize()
    }
    hasher.combine(mixed)
  }
}

extension ValueObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, Value)...) {
    self.init(literal: elements)
  }

  /// Creates an object as ``init(_:)``, faster for few members.
  init(literal elements: [(String, Value)]) {
    // Most literals are short and have distinct names, which need no search for each member.
    let members = elements.map { ObjectMember(name: $0.0, value: $0.1) }
    if members.count <= Self.smallCount, Self.areDistinct(members) {
      self.init(distinct: members)
    } else {
      self.init(elements)
    }
  }

  private static func areDistinct(_ members: [ObjectMember]) -> Bool {
    members.indices.allSatisfy { position in
      !members[..<position].contains { $0.name.isSameUTF8(as: members[position].name) }
    }
  }
}
