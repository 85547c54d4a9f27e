import WayRouting

/// The hosts of this client, found as the server finds them: the most specific pattern wins, then the last registered; a
/// whole scheme is the least specific.
struct HostTable {
  private struct Entry {
    let host: BridgeClient.Host
    let patterns: [RoutePattern]
  }

  private var entries: [Entry] = []
  /// Index into `entries` by pattern.
  private var trie = RouteTrie<Int>([])

  init() {}

  init(_ hosts: [BridgeClient.Host]) throws(CallError) {
    try add(hosts)
  }

  /// All of them, or none. A host that is there already, as the server knows it, is replaced; gives those that are.
  @discardableResult
  mutating func add(_ hosts: [BridgeClient.Host]) throws(CallError) -> [BridgeClient.Host] {
    var added: [Entry] = []
    for host in hosts {
      var patterns: [RoutePattern] = []
      for text in host.declaration.patterns {
        do {
          patterns.append(try RoutePattern(text))
        } catch {
          throw .invalidParams("The pattern '\(text)' of a host: \(error)")
        }
      }
      added.append(Entry(host: host, patterns: patterns))
    }
    let replaced = remove(hosts)
    entries += added
    index()
    return replaced
  }

  /// Gives those that were there.
  @discardableResult
  mutating func remove(_ hosts: [BridgeClient.Host]) -> [BridgeClient.Host] {
    let declarations = Set(hosts.map(\.declaration))
    let removed = entries.map(\.host).filter { declarations.contains($0.declaration) }
    entries.removeAll { declarations.contains($0.host.declaration) }
    index()
    return removed
  }

  /// Who serves a URI.
  func find(
    _ text: String, where fits: (BridgeClient.Host) -> Bool
  ) -> BridgeClient.Host? {
    guard let uri = try? RouteURI(mapping: text), let scheme = uri.scheme?.lowercased(),
      let split = try? SplitURI(uri)
    else { return nil }
    func serves(_ host: BridgeClient.Host) -> Bool {
      (host.declaration.scheme ?? scheme) == scheme && fits(host)
    }
    for match in trie.matches(split) where serves(entries[match.payload].host) {
      return entries[match.payload].host
    }
    return entries.last { $0.patterns.isEmpty && serves($0.host) }?.host
  }

  private mutating func index() {
    // The trie prefers what was registered first, hosts what was registered last.
    trie = RouteTrie(
      entries.enumerated().reversed().flatMap { position, entry in
        entry.patterns.map { RouteTrie<Int>.Entry($0, position) }
      })
  }
}
