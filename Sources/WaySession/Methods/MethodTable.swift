import WayRPC
import WayValues

/// All methods that a client may call, found by the bytes of their names.
package struct MethodTable: Sendable {
  /// The protocol's, the most frequent first.
  package static let own: [Method] =
    RouterMethods.all + NavigationMethods.all + PageMethods.all + HostMethods.all
    + EventMethods.all + SessionMethods.all + AdminMethods.all

  /// By the length of the name in bytes, and there in the order of ``own``, those beside them
  /// behind.
  private let methods: [[(place: Int, method: Method)]]

  /// The protocol's methods, and others beside, which are answered at once.
  init(others: [String: RawMethod] = [:]) {
    let all = Self.own + others.map { Method($0, access: .member, raw: $1) }
    var methods: [[(place: Int, method: Method)]] = []
    for (place, method) in all.enumerated() {
      let length = method.name.utf8.count
      while methods.count <= length { methods.append([]) }
      methods[length].append((place, method))
    }
    self.methods = methods
  }

  /// The method that a request is for, and its place in the table; nil for none.
  func find(_ request: RequestView) -> (place: Int, method: Method)? {
    let length = request.methodSize
    guard length < methods.count else { return nil }
    for entry in methods[length] where request.isFor(entry.method.name) { return entry }
    return nil
  }

  /// The method of a name, and its place in the table; nil for none.
  func find(_ name: String) -> (place: Int, method: Method)? {
    let length = name.utf8.count
    guard length < methods.count else { return nil }
    for entry in methods[length] where name.isSameASCII(as: entry.method.name) { return entry }
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
}
