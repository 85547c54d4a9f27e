import WayRPC
import WayValues

/// All methods that a client may call, indexed by the bytes of their names.
package struct MethodTable: Sendable {
  /// The protocol's methods, the most frequent first.
  package static let builtIn: [SessionMethod] =
    RouterMethods.all + NavigationMethods.all + PageMethods.all + HostMethods.all
    + EventMethods.all + SessionMethods.all + BlobMethods.all + AdminMethods.all

  /// The methods of ``builtIn``, in their order, followed by the others.
  private let methods: [SessionMethod]
  /// The suffixes of the method names, in the order of `methods`. They are compared first.
  private let nameSuffixes: [NameSuffix]

  /// Creates a table of the protocol's methods and others, whose responses are made at once.
  init(others: [String: RawMethod] = [:]) {
    methods =
      Self.builtIn + others.map { SessionMethod($0, access: .client, raw: $1) }
      + (others.isEmpty ? [] : ConformanceMethods.sessionMethods)
    nameSuffixes = methods.map { NameSuffix($0.name) }
  }

  /// The method of a request, and its index in the table; nil if there is none.
  func find(_ request: RPCRequestView) -> (place: Int, method: SessionMethod)? {
    let end = request.methodSuffix
    for place in nameSuffixes.indices where nameSuffixes[place] == end {
      let method = methods[place]
      if request.hasMethod(method.name) { return (place, method) }
    }
    return nil
  }

  /// The method with a name, and its index in the table; nil if there is none.
  func find(_ name: String) -> (place: Int, method: SessionMethod)? {
    methods.firstIndex { $0.name.isSameUTF8(as: name) }.map { ($0, methods[$0]) }
  }

  /// The prefixes that are reserved for the protocol: `router.`, `$/` and so on.
  static let reservedPrefixes: Set<String> = Set(
    builtIn.map(\.name) + ProtocolNotifications.all.map(\.name) + ["task.run"]
  ).reduce(into: []) { families, name in
    if let end = name.firstIndex(where: { $0 == "." || $0 == "/" }) {
      families.insert(String(name[...end]))
    }
  }

  /// Whether a name is reserved for the protocol, now or in a later version.
  static func isReserved(_ name: String) -> Bool {
    name.isEmpty || name == "event" || reservedPrefixes.contains { name.utf8.starts(with: $0.utf8) }
  }
}
