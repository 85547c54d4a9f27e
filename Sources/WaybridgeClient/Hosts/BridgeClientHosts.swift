import WayValues

/// The hosts and interceptors of this client, in the order of registration.
struct BridgeClientHosts {
  private var hosts: [BridgeClient.Host] = []

  init() {}

  init(_ hosts: [BridgeClient.Host]) {
    add(hosts)
  }

  /// The declarations that `session.open` sends.
  var declarations: [HostDeclaration] { hosts.map(\.declaration) }

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
    hosts.last { chosen.matches($0.declaration) }
  }

  /// Returns the interceptor with a name.
  func interceptor(_ name: String) -> BridgeClient.InterceptorHandler? {
    for host in hosts where host.declaration.name == name {
      if case .intercepts(let interceptor) = host.handler { return interceptor }
    }
    return nil
  }

  /// Throws 2409 if several interceptors would have one name: the server identifies an interceptor only
  /// by its name when it asks.
  func checkNames(with added: [BridgeClient.Host]) throws(CallError) {
    var names: Set<String> = []
    for declaration in Set((hosts + added).map(\.declaration)) {
      guard let name = declaration.name, !names.insert(name).inserted else { continue }
      throw CallError(
        .conflict,
        "This client has another interceptor \"\(name)\"; choose another name, or unregister that one"
      )
    }
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
