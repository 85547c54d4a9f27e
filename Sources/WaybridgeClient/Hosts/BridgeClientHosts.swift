import WayNavigation
import WayValues

/// The hosts of this client, in the order of registration.
struct BridgeClientHosts {
  private var hosts: [BridgeClient.Host] = []

  init() {}

  init(_ hosts: [BridgeClient.Host]) {
    add(hosts)
  }

  /// The declarations that `session.open` sends.
  var values: [Value] { hosts.map(\.value) }

  /// Whether one of the hosts shows pages.
  var showsPages: Bool { hosts.contains { $0.declaration.kind == .page } }

  /// Adds hosts. A host with the same declaration is replaced; returns the replaced hosts.
  @discardableResult
  mutating func add(_ added: [BridgeClient.Host]) -> [BridgeClient.Host] {
    let declarations = Set(added.map(\.declaration))
    let replaced = hosts.filter { declarations.contains($0.declaration) }
    hosts.removeAll { declarations.contains($0.declaration) }
    hosts += added
    return replaced
  }

  /// Removes hosts.
  mutating func remove(_ removed: [BridgeClient.Host]) {
    let declarations = Set(removed.map(\.declaration))
    hosts.removeAll { declarations.contains($0.declaration) }
  }

  /// Returns the host that the server has chosen; of several with one pattern the last registered,
  /// as on the server.
  func find(_ chosen: MatchedHost) -> BridgeClient.Host? {
    hosts.last { chosen.matches(declaration: $0.declaration) }
  }

  /// Returns the last registered host that shows pages of the URI's scheme.
  func pageHost(ofSchemeOf uri: String) -> (any PageHost)? {
    let scheme = uri.prefix { $0 != ":" }.lowercased()
    for host in hosts.reversed() where host.declaration.scheme == scheme {
      if case .pages(let pages) = host.handler { return pages }
    }
    return nil
  }
}

/// The host that the server has chosen for a call, and the pattern that matched.
struct MatchedHost {
  private let scheme: String?
  private let pattern: String?
  private let kind: RouteKind

  /// Decodes `host` of `page.open` and `task.run`. Throws -32602.
  init(_ value: Value?) throws(CallError) {
    guard let kind = value?["kind"]?.string.flatMap(RouteKind.init(rawValue:)) else {
      throw .invalidParams(
        "params.host must be the host that was chosen: {scheme?, pattern?, kind}")
    }
    scheme = value?["scheme"]?.string
    pattern = value?["pattern"]?.string
    self.kind = kind
  }

  fileprivate func matches(declaration host: HostDeclaration) -> Bool {
    host.kind == kind && host.scheme == scheme
      && (pattern.map(host.patterns.contains) ?? host.patterns.isEmpty)
  }
}
