import WayRPC
import WayValues

/// All methods that a client may call, found by the bytes of their names.
package struct MethodTable: Sendable {
  /// The protocol's, the most frequent first.
  package static let own: [Method] =
    RouterMethods.all + NavigationMethods.all + PageMethods.all + HostMethods.all
    + EventMethods.all + SessionMethods.all + AdminMethods.all

  /// In the order of ``own``, those beside them behind.
  private let methods: [Method]
  /// The ends of their names, the order that of `methods`, and what is looked at first.
  private let ends: [NameEnd]

  /// The protocol's methods, and others beside, which are answered at once.
  init(others: [String: RawMethod] = [:]) {
    methods =
      Self.own + others.map { Method($0, access: .member, raw: $1) }
      + (others.isEmpty ? [] : ConformanceMethods.sessionMethods)
    ends = methods.map { NameEnd($0.name) }
  }

  /// The method that a request is for, and its place in the table; nil for none.
  func find(_ request: RequestView) -> (place: Int, method: Method)? {
    let end = request.methodEnd
    for place in ends.indices where ends[place] == end {
      let method = methods[place]
      if request.isFor(method.name) { return (place, method) }
    }
    return nil
  }

  /// The method of a name, and its place in the table; nil for none.
  func find(_ name: String) -> (place: Int, method: Method)? {
    methods.firstIndex { $0.name.isSameUTF8(as: name) }.map { ($0, methods[$0]) }
  }

  /// The beginnings of the protocol's names, which are nobody else's: `router.`, `$/` and so on.
  static let reserved: Set<String> = Set(
    own.map(\.name) + ProtocolNotifications.all.map(\.name) + ["task.run"]
  ).reduce(into: []) { families, name in
    if let end = name.firstIndex(where: { $0 == "." || $0 == "/" }) {
      families.insert(String(name[...end]))
    }
  }

  /// Whether a name is the protocol's, now or in a later version.
  static func reserves(_ name: String) -> Bool {
    name.isEmpty || name == "event" || reserved.contains { name.utf8.starts(with: $0.utf8) }
  }
}
