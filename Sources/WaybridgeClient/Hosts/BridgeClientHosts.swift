import WayNavigation
import WayValues

/// The hosts of this client, in the order in which they were registered.
struct BridgeClientHosts {
  private var hosts: [BridgeClient.Host] = []

  init() {}

  init(_ hosts: [BridgeClient.Host]) {
    add(hosts)
  }

  /// As `session.open` declares them.
  var values: [Value] { hosts.map(\.value) }

  /// Whether one of them shows pages.
  var showsPages: Bool { hosts.contains { $0.declaration.kind == .page } }

  /// A host that is there already, as the server knows it, is replaced; gives those that are.
  @discardableResult
  mutating func add(_ added: [BridgeClient.Host]) -> [BridgeClient.Host] {
    let declarations = Set(added.map(\.declaration))
    let replaced = hosts.filter { declarations.contains($0.declaration) }
    hosts.removeAll { declarations.contains($0.declaration) }
    hosts += added
    return replaced
  }

  /// Takes hosts back.
  mutating func remove(_ removed: [BridgeClient.Host]) {
    let declarations = Set(removed.map(\.declaration))
    hosts.removeAll { declarations.contains($0.declaration) }
  }

  /// The one that the server means; of several with one pattern the last registered, as there.
  func find(_ chosen: ChosenHost) -> BridgeClient.Host? {
    hosts.last { chosen.isOne(of: $0.declaration) }
  }

  /// What shows pages of a URI's scheme, the last registered.
  func pages(ofSchemeOf uri: String) -> (any PageHost)? {
    let scheme = uri.prefix { $0 != ":" }.lowercased()
    for host in hosts.reversed() where host.declaration.scheme == scheme {
      if case .pages(let pages) = host.handler { return pages }
    }
    return nil
  }
}

/// The host that the server has chosen for a call, and by which of its patterns.
struct ChosenHost {
  private let scheme: String?
  private let pattern: String?
  private let kind: RouteKind

  /// Reads `host` of `page.open` and `task.run`. Fails with -32602.
  init(_ value: Value?) throws(CallError) {
    guard let kind = value?["kind"]?.string.flatMap(RouteKind.init(rawValue:)) else {
      throw .invalidParams(
        "params.host must be the host that was chosen: {scheme?, pattern?, kind}")
    }
    scheme = value?["scheme"]?.string
    pattern = value?["pattern"]?.string
    self.kind = kind
  }

  fileprivate func isOne(of host: HostDeclaration) -> Bool {
    host.kind == kind && host.scheme == scheme
      && (pattern.map(host.patterns.contains) ?? host.patterns.isEmpty)
  }
}
