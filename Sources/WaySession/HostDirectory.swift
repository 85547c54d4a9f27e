import WayRPC
import WayRouting
import WayValues

/// What the members of one session show and run. The most specific pattern wins, then the last registered;
/// a whole scheme is the least specific.
struct HostDirectory {
  private struct Entry {
    let definition: HostDefinition
    let client: ClientID
    let patterns: [RoutePattern]
  }

  private var entries: [Entry] = []
  var isEmpty: Bool { entries.isEmpty }
  /// Index into `entries` by pattern, made again when the entries change.
  private var trie = RouteTrie<Int>([])

  /// How many declarations there are.
  var count: Int { entries.count }

  /// Adds what a client declares, all of it or, when something is wrong, nothing. A definition that the client
  /// has declared before becomes the last registered.
  mutating func register(
    _ definitions: [HostDefinition], for client: ClientID, limits: Limits, router: RouterSnapshot
  ) throws(RPCError) {
    var added: [Entry] = []
    for definition in definitions {
      added.append(
        Entry(
          definition: definition, client: client,
          patterns: try Self.patterns(of: definition, limits, router)))
    }
    let new = Set(definitions)
    let kept = entries.filter { !($0.client == client && new.contains($0.definition)) }
    guard kept.count(where: { $0.client == client }) + added.count <= limits.maxHosts else {
      throw RPCError(.tooMany, "A client may declare \(limits.maxHosts) hosts")
    }
    entries = kept + added
    index()
  }

  private static func patterns(
    of definition: HostDefinition, _ limits: Limits, _ router: RouterSnapshot
  ) throws(RPCError) -> [RoutePattern] {
    guard definition.patterns.count <= limits.maxHosts else {
      throw RPCError(.tooMany, "A host may have \(limits.maxHosts) patterns")
    }
    var patterns: [RoutePattern] = []
    for text in definition.patterns {
      let pattern: RoutePattern
      do {
        pattern = try RoutePattern(text)
      } catch {
        throw .invalidParams("The pattern \(text.quoted) of a host: \(error)")
      }
      if let scheme = definition.scheme, let own = pattern.scheme, own != scheme {
        throw .invalidParams("The pattern \(text.quoted) is not of the host's scheme \(scheme)")
      }
      patterns.append(pattern)
    }
    guard patterns.reduce(0, { $0 + $1.formCount }) <= limits.maxHosts else {
      throw RPCError(
        .tooMany,
        "The optional groups of a host's patterns may be read in \(limits.maxHosts) ways in all")
    }
    for scheme in Set(patterns.compactMap(\.scheme) + [definition.scheme].compactMap(\.self)) {
      guard router.takes(definition.kind, inScheme: scheme) else {
        throw .invalidParams(
          "The scheme \(scheme) belongs to another dispatcher: its routes are no \(definition.kind.rawValue)s"
        )
      }
    }
    return patterns
  }

  /// Takes back definitions of a client. What is already shown stays.
  mutating func unregister(_ definitions: [HostDefinition], of client: ClientID) throws(RPCError) {
    for definition in definitions
    where !entries.contains(where: { $0.client == client && $0.definition == definition }) {
      throw .invalidParams("This client has not registered such a host: \(definition.value)")
    }
    let taken = Set(definitions)
    entries.removeAll { $0.client == client && taken.contains($0.definition) }
    index()
  }

  mutating func removeAll(of client: ClientID) {
    guard entries.contains(where: { $0.client == client }) else { return }
    entries.removeAll { $0.client == client }
    index()
  }

  /// What a client has declared, in the order of registration.
  func definitions(of client: ClientID) -> [HostDefinition] {
    entries.filter { $0.client == client }.map(\.definition)
  }

  /// Who serves a URI; `kind` nil takes any.
  func find(
    _ uri: RouteURI, kind: RouteKind?
  ) -> (client: ClientID, kind: RouteKind)? {
    guard !entries.isEmpty, let scheme = uri.scheme?.lowercased(), let split = try? SplitURI(uri)
    else { return nil }
    let fits = { (entry: Entry) in
      (kind ?? entry.definition.kind) == entry.definition.kind
        && (entry.definition.scheme ?? scheme) == scheme
    }
    for match in trie.matches(split) where fits(entries[match.payload]) {
      let entry = entries[match.payload]
      return (entry.client, entry.definition.kind)
    }
    return entries.last { fits($0) && $0.patterns.isEmpty }
      .map { ($0.client, $0.definition.kind) }
  }

  private mutating func index() {
    // The trie prefers what was registered first, hosts what was registered last.
    trie = RouteTrie(
      entries.enumerated().reversed().flatMap { position, entry in
        entry.patterns.map { RouteTrie<Int>.Entry($0, position) }
      })
  }
}
