import WayRPC
import WayValues

/// All methods that a client may call, found by the bytes of their names.
package struct MethodTable: Sendable {
  /// The protocol's, the most frequent first.
  package static let own: [Method] =
    RouterMethods.all + NavigationMethods.all + PageMethods.all + HostMethods.all
    + EventMethods.all + SessionMethods.all + AdminMethods.all

  private let methods: [Method]
  /// Places in ``methods`` by the hash of the name, or -1; a place that is taken gives way to the next.
  private var slots: [Int16]

  /// The protocol's methods, and others beside, which are answered at once.
  init(others: [String: RawMethod] = [:]) {
    methods = Self.own + others.map { Method($0, access: .member, raw: $1) }
    var size = 64
    while size < methods.count * 4 { size *= 2 }
    slots = Array(repeating: -1, count: size)
    for (place, method) in methods.enumerated() {
      var slot = Self.hash(method.name.utf8.span) & (size - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = Int16(truncatingIfNeeded: place)
    }
  }

  /// The method of a name, and its place in the table; nil for none.
  func find(_ name: String) -> (method: Method, place: Int)? {
    var slot = Self.hash(name.utf8.span) & (slots.count - 1)
    while slots[slot] >= 0 {
      let place = Int(slots[slot])
      if methods[place].name.isSameUTF8(as: name) { return (methods[place], place) }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// The beginnings of the protocol's names, which are nobody else's: `router.`, `$/` and so on.
  static let reserved: Set<String> = Set(
    own.map(\.name) + Notices.all.map(\.name) + ["task.run"]
  ).reduce(into: []) { families, name in
    if let end = name.firstIndex(where: { $0 == "." || $0 == "/" }) {
      families.insert(String(name[...end]))
    }
  }

  /// Whether a name is the protocol's, now or in a later version.
  static func reserves(_ name: String) -> Bool {
    name.isEmpty || name == "event" || reserved.contains { name.utf8.starts(with: $0.utf8) }
  }

  /// Of the length and three of the bytes: enough to tell the protocol's names apart.
  private static func hash(_ name: Span<UInt8>) -> Int {
    let count = name.count
    guard count > 0 else { return 0 }
    return count &* 31 &+ Int(name[0]) &* 7 &+ Int(name[count - 1]) &* 131
      &+ Int(name[count / 2]) &* 17
  }
}
