import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// What the members of one session show and run.
struct SessionHosts {
  /// A declaration of a client.
  struct Host: Sendable {
    let definition: HostDefinition
    let client: ClientID
  }

  private var directory = HostDirectory<Host>()
  private let limits: Limits

  init(limits: Limits) {
    self.limits = limits
  }

  var isEmpty: Bool { directory.isEmpty }

  /// How many declarations there are.
  var count: Int { directory.hosts.count }

  /// Adds what a client declares, all of it or, when something is wrong, nothing. A definition that
  /// the client has declared before becomes the last registered.
  mutating func register(
    _ definitions: [HostDefinition], for client: ClientID, router: RouterSnapshot
  ) throws(CallError) {
    var added: [(scheme: String?, patterns: [RoutePattern], host: Host)] = []
    for definition in definitions {
      added.append(
        (
          definition.scheme, try patterns(of: definition, router),
          Host(definition: definition, client: client)
        ))
    }
    let new = Set(definitions)
    let kept = directory.hosts.count { $0.client == client && !new.contains($0.definition) }
    guard kept + added.count <= limits.maxHosts else {
      throw CallError(.tooMany, "A client may declare \(limits.maxHosts) hosts")
    }
    directory.register(added) { $0.client == client && new.contains($0.definition) }
  }

  private func patterns(
    of definition: HostDefinition, _ router: RouterSnapshot
  ) throws(CallError) -> [RoutePattern] {
    guard definition.patterns.count <= limits.maxHosts else {
      throw CallError(.tooMany, "A host may have \(limits.maxHosts) patterns")
    }
    var patterns: [RoutePattern] = []
    for text in definition.patterns {
      let pattern: RoutePattern
      do { pattern = try RoutePattern(text) } catch {
        throw .invalidParams("The pattern \(text.quoted) of a host: \(error)")
      }
      if let scheme = definition.scheme, let own = pattern.scheme, own != scheme {
        throw .invalidParams("The pattern \(text.quoted) is not of the host's scheme \(scheme)")
      }
      patterns.append(pattern)
    }
    guard patterns.reduce(0, { $0 + $1.formCount }) <= limits.maxHosts else {
      throw CallError(
        .tooMany,
        "The optional groups of a host's patterns may be read in \(limits.maxHosts) ways in all")
    }
    for scheme in Set(patterns.compactMap(\.scheme) + [definition.scheme].compactMap(\.self)) {
      guard router.takes(definition.kind, inScheme: scheme) else {
        throw .invalidParams(
          "The scheme \(scheme) belongs to another dispatcher:"
            + " its routes are no \(definition.kind.rawValue)s")
      }
    }
    return patterns
  }

  /// Takes back definitions of a client. What is already shown stays.
  mutating func unregister(_ definitions: [HostDefinition], of client: ClientID) throws(CallError) {
    let registered = Set(self.definitions(of: client))
    for definition in definitions where !registered.contains(definition) {
      throw .invalidParams("This client has not registered such a host: \(definition.value)")
    }
    let taken = Set(definitions)
    directory.removeAll { $0.client == client && taken.contains($0.definition) }
  }

  mutating func removeAll(of client: ClientID) {
    directory.removeAll { $0.client == client }
  }

  /// What a client has declared, in the order of registration.
  func definitions(of client: ClientID) -> [HostDefinition] {
    directory.hosts.filter { $0.client == client }.map(\.definition)
  }

  /// Who serves a URI; `kind` nil takes any.
  func find(_ uri: RouteURI, kind: RouteKind?) -> (client: ClientID, kind: RouteKind)? {
    directory.find(uri) { (kind ?? $0.definition.kind) == $0.definition.kind }
      .map { ($0.client, $0.definition.kind) }
  }
}
