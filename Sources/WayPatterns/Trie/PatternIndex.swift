import WayValues

/// Which registrations serve which URIs, by scheme and patterns: the most specific pattern wins, then
/// the last registered; a whole scheme is the least specific.
///
/// A change costs by what changes, and a lookup by the logarithm of what there is: patterns stand
/// in layers, each at most half as large as the one before, and a new one takes in the layers
/// that are too small to stand before it.
package struct PatternIndex: Sendable {
  /// Names a registration; a later one has a higher number.
  package typealias Number = Int

  private struct Entry: Sendable {
    let scheme: String?
    let patterns: [RoutePattern]
  }

  /// A registration that serves a URI.
  package struct Found {
    package let number: Number
    /// The one of its patterns that does; nil for the whole scheme.
    package let pattern: RoutePattern?
    /// What the pattern takes from the URI.
    package let captures: ValueObject
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

  /// Registers some, each with its scheme, in lower case, and its patterns; one without patterns
  /// serves the whole scheme.
  package mutating func add(
    _ added: [(scheme: String?, patterns: [RoutePattern])]
  ) -> [Number] {
    var numbers: [Number] = []
    var indexed: [Number] = []
    for (scheme, patterns) in added {
      lastNumber += 1
      numbers.append(lastNumber)
      entries[lastNumber] = Entry(scheme: scheme, patterns: patterns)
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

  /// The best of those that serve a URI that `fits` holds for; it is told by which of its patterns
  /// one does, nil for the whole scheme. Leaving some out gives the next.
  ///
  /// Throws ``ParameterError/parameters(_:)`` where the pattern cannot read the URI.
  package func find(
    _ uri: RouteURI, where fits: (Number, RoutePattern?) -> Bool
  ) throws(PatternParameterError) -> Found? {
    guard !entries.isEmpty, let scheme = uri.scheme?.lowercased(), let split = try? SplitURI(uri)
    else { return nil }
    var asked: Set<Number> = []
    for match in matches(split) where asked.insert(match.number).inserted {
      guard let entry = entries[match.number], (entry.scheme ?? scheme) == scheme else { continue }
      let trie = layers[match.layer].trie
      let pattern = trie.pattern(of: match.candidate.form)
      guard fits(match.number, pattern) else { continue }
      let captures = try trie.captures(of: match.candidate, in: split)
      return Found(number: match.number, pattern: pattern, captures: captures)
    }
    for number in (wholes[scheme] ?? []).reversed() {
      guard fits(number, nil) else { continue }
      return Found(number: number, pattern: nil, captures: [:])
    }
    return nil
  }

  private typealias PatternMatch = (number: Number, layer: Int, candidate: RouteTrie.Candidate)

  /// The patterns that match, with whose each is, the best first; some of those may be gone.
  private func matches(_ split: borrowing SplitURI) -> [PatternMatch] {
    var matches: [PatternMatch] = []
    for scope in [RouteTrie.Scope.scheme, .global] {
      var found: [(match: PatternMatch, rank: [UInt8])] = []
      for place in layers.indices.reversed() {
        let layer = layers[place]
        for candidate in layer.trie.candidates(split, in: scope) {
          let match = (layer.owner(of: candidate), place, candidate)
          // One layer has them in their order.
          found.append((match, layers.count == 1 ? [] : layer.trie.rank(of: candidate.form)))
        }
      }
      if layers.count > 1 {
        found.sort { left, right in
          left.rank == right.rank
            ? left.match.number > right.match.number
            : left.rank.lexicographicallyPrecedes(right.rank)
        }
      }
      matches += found.map(\.match)
    }
    return matches
  }
}

// The layers.
extension PatternIndex {
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

    func owner(of candidate: RouteTrie.Candidate) -> Number {
      owners[trie.entry(of: candidate.form)]
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
