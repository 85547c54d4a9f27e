/// Who serves which URIs, by scheme and patterns: the most specific pattern wins, then the last
/// registered; a whole scheme is the least specific.
package struct HostDirectory<Host: Sendable>: Sendable {
  private struct Entry: Sendable {
    let scheme: String?
    let patterns: [RoutePattern]
    let host: Host
  }

  private var entries: [Entry] = []
  /// The patterns of all entries, the last registered first.
  private var trie = RouteTrie([])
  /// Which of ``entries`` each pattern of the trie belongs to.
  private var owners: [Int] = []

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  /// The hosts in the order in which they were registered.
  package var hosts: [Host] { entries.map(\.host) }

  /// Registers hosts, each with its scheme, in lower case, and its patterns; one without patterns
  /// serves the whole scheme. Those before that `isReplaced` holds for go.
  package mutating func register(
    _ added: [(scheme: String?, patterns: [RoutePattern], host: Host)],
    replacing isReplaced: (Host) -> Bool
  ) {
    entries.removeAll { isReplaced($0.host) }
    entries += added.map { Entry(scheme: $0.scheme, patterns: $0.patterns, host: $0.host) }
    index()
  }

  /// Takes hosts back.
  package mutating func removeAll(where isRemoved: (Host) -> Bool) {
    guard entries.contains(where: { isRemoved($0.host) }) else { return }
    entries.removeAll { isRemoved($0.host) }
    index()
  }

  /// Who serves a URI, of those that `fits` holds for.
  package func find(_ uri: RouteURI, where fits: (Host) -> Bool) -> Host? {
    guard !entries.isEmpty, let scheme = uri.scheme?.lowercased(), let split = try? SplitURI(uri)
    else { return nil }
    func serves(_ entry: Entry) -> Bool {
      (entry.scheme ?? scheme) == scheme && fits(entry.host)
    }
    for candidate in trie.candidates(split) {
      let entry = entries[owners[trie.entry(of: candidate.form)]]
      if serves(entry) { return entry.host }
    }
    return entries.last { $0.patterns.isEmpty && serves($0) }?.host
  }

  private mutating func index() {
    // The trie prefers what comes first, hosts what was registered last.
    let patterns = entries.enumerated().reversed().flatMap { number, entry in
      entry.patterns.map { (owner: number, pattern: $0) }
    }
    owners = patterns.map(\.owner)
    trie = RouteTrie(patterns.map { ($0.pattern, 0) })
  }
}
