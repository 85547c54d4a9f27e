/// Who serves which URIs, by scheme and patterns: the most specific pattern wins, then the last
/// registered; a whole scheme is the least specific.
///
/// A change costs by what changes, and a lookup by the logarithm of what there is: patterns stand
/// in layers, each at most half as large as the one before, and a new one takes in the layers
/// that are too small to stand before it.
package struct HostDirectory<Host: Sendable>: Sendable {
  /// Names a registration; a later one has a higher number.
  package typealias Number = Int

  private struct Entry: Sendable {
    let scheme: String?
    let patterns: [RoutePattern]
    let host: Host
  }

  private var entries: [Number: Entry] = [:]
  /// The patterns, oldest first: every number of a layer is lower than all of the next.
  private var layers: [Layer] = []
  /// Those that serve a whole scheme, in their order.
  private var wholes: [String: [Number]] = [:]
  private var lastNumber = 0

  /// Beyond, all become one: what was taken back may have left them small.
  private static var maxLayers: Int { 16 }

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  package var count: Int { entries.count }

  package subscript(number: Number) -> Host? { entries[number]?.host }

  /// Registers hosts, each with its scheme, in lower case, and its patterns; one without patterns
  /// serves the whole scheme.
  package mutating func add(
    _ added: [(scheme: String?, patterns: [RoutePattern], host: Host)]
  ) -> [Number] {
    var numbers: [Number] = []
    var indexed: [Number] = []
    for (scheme, patterns, host) in added {
      lastNumber += 1
      numbers.append(lastNumber)
      entries[lastNumber] = Entry(scheme: scheme, patterns: patterns, host: host)
      if !patterns.isEmpty { indexed.append(lastNumber) }
      if patterns.isEmpty, let scheme { wholes[scheme, default: []].append(lastNumber) }
    }
    if !indexed.isEmpty { append(indexed) }
    return numbers
  }

  /// Takes registrations back; those that are gone already are passed over.
  package mutating func remove(_ numbers: [Number]) {
    var thinned: Set<Int> = []
    for number in numbers {
      guard let entry = entries.removeValue(forKey: number) else { continue }
      if entry.patterns.isEmpty, let scheme = entry.scheme {
        wholes[scheme]?.removeAll { $0 == number }
        if wholes[scheme]?.isEmpty == true { wholes[scheme] = nil }
      } else if let place = layers.lastIndex(where: { $0.first <= number }) {
        layers[place].live -= entry.patterns.count
        if layers[place].isThin { thinned.insert(place) }
      }
    }
    for place in thinned.sorted(by: >) {
      let left = layers[place].numbers.filter { entries[$0] != nil }
      if left.isEmpty { layers.remove(at: place) } else { layers[place] = layer(of: left) }
    }
  }

  /// Those who serve a URI, the best first.
  package func candidates(_ uri: RouteURI) -> [Host] {
    var hosts: [Host] = []
    _ = find(uri) { host in
      hosts.append(host)
      return false
    }
    return hosts
  }

  /// The best of those who serve a URI that `fits` holds for.
  package func find(_ uri: RouteURI, where fits: (Host) -> Bool) -> Host? {
    guard !entries.isEmpty, let scheme = uri.scheme?.lowercased(), let split = try? SplitURI(uri)
    else { return nil }
    var asked: Set<Number> = []
    for number in matches(split) where asked.insert(number).inserted {
      guard let entry = entries[number], (entry.scheme ?? scheme) == scheme else { continue }
      if fits(entry.host) { return entry.host }
    }
    for number in (wholes[scheme] ?? []).reversed() {
      if let host = entries[number]?.host, fits(host) { return host }
    }
    return nil
  }

  /// The registrations with a pattern that matches, the best first; some may be gone.
  private func matches(_ split: borrowing SplitURI) -> [Number] {
    var numbers: [Number] = []
    for scope in [RouteTrie.Scope.scheme, .global] {
      if layers.count == 1 {
        numbers += layers[0].matches(split, in: scope).map(\.number)
        continue
      }
      var found: [(number: Number, rank: [UInt8])] = []
      for layer in layers.reversed() {
        for match in layer.matches(split, in: scope) {
          found.append((match.number, layer.trie.rank(of: match.form)))
        }
      }
      found.sort { left, right in
        left.rank == right.rank
          ? left.number > right.number : left.rank.lexicographicallyPrecedes(right.rank)
      }
      numbers += found.map(\.number)
    }
    return numbers
  }
}

// The layers.
extension HostDirectory {
  private struct Layer: Sendable {
    /// The registrations in it, in their order.
    let numbers: [Number]
    /// Their patterns, the last registered first, since the trie prefers what comes first.
    let trie: RouteTrie
    /// Whose each pattern of the trie is.
    let owners: [Number]
    /// How many patterns are of registrations that still stand.
    var live: Int

    var first: Number { numbers[0] }
    /// Whether most of it is gone.
    var isThin: Bool { live * 2 < owners.count || live == 0 }

    func matches(
      _ split: borrowing SplitURI, in scope: RouteTrie.Scope
    ) -> [(number: Number, form: Int)] {
      trie.candidates(split, in: scope).map { (owners[trie.entry(of: $0.form)], $0.form) }
    }
  }

  private mutating func append(_ new: [Number]) {
    var numbers = new
    var size = new.reduce(0) { $0 + (entries[$1]?.patterns.count ?? 0) }
    let isCrowded = layers.count >= Self.maxLayers
    while let last = layers.last, isCrowded || last.live <= 2 * size {
      numbers = last.numbers.filter { entries[$0] != nil } + numbers
      size += last.live
      layers.removeLast()
    }
    layers.append(layer(of: numbers))
  }

  /// `numbers` is not empty, and all of it stands.
  private func layer(of numbers: [Number]) -> Layer {
    let patterns = numbers.reversed().flatMap { number in
      (entries[number]?.patterns ?? []).map { (owner: number, pattern: $0) }
    }
    return Layer(
      numbers: numbers, trie: RouteTrie(patterns.map { ($0.pattern, 0) }),
      owners: patterns.map(\.owner), live: patterns.count)
  }
}
