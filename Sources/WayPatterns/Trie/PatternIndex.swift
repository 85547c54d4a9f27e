import WayValues

/// The registrations of hosts, by scheme and patterns. For a URI the most specific pattern wins,
/// then the last registered; a whole scheme is the least specific.
///
/// The cost of a change is linear in its size, and that of a lookup logarithmic in the number of
/// registrations. Patterns are in layers, each at most half as large as the previous one. A new
/// layer absorbs the layers before it that are too small.
package struct PatternIndex: Sendable {
  /// The number of a registration; a later one has a higher number.
  package typealias RegistrationNumber = Int

  private struct IndexedRegistration: Sendable {
    let scheme: String?
    let patterns: [RoutePattern]
  }

  /// A registration that serves a URI.
  package struct RegistrationMatch {
    package let number: RegistrationNumber
    /// The pattern that matches; `nil` for the whole scheme.
    package let pattern: RoutePattern?
    /// The values that the pattern captures from the URI.
    package let captures: ValueObject
  }

  private var entries: [RegistrationNumber: IndexedRegistration] = [:]
  /// The patterns, oldest first: every number of a layer is lower than all of the next.
  private var layers: [PatternLayer] = []
  /// The registrations that serve a whole scheme, in order.
  private var schemeRegistrations: [String: [RegistrationNumber]] = [:]
  private var lastNumber = 0

  /// The number of layers beyond which all are merged, since removed registrations may have left
  /// them small.
  private static var maxLayers: Int { 16 }

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  package var count: Int { entries.count }

  /// Adds registrations, each with its scheme, in lower case, and its patterns; one without
  /// patterns serves the whole scheme.
  package mutating func add(
    _ added: [(scheme: String?, patterns: [RoutePattern])]
  ) -> [RegistrationNumber] {
    var numbers: [RegistrationNumber] = []
    var indexed: [RegistrationNumber] = []
    for (scheme, patterns) in added {
      lastNumber += 1
      numbers.append(lastNumber)
      entries[lastNumber] = IndexedRegistration(scheme: scheme, patterns: patterns)
      if !patterns.isEmpty { indexed.append(lastNumber) }
      if patterns.isEmpty, let scheme {
        schemeRegistrations[scheme, default: []].append(lastNumber)
      }
    }
    if !indexed.isEmpty { appendLayer(indexed) }
    return numbers
  }

  /// Removes registrations; those that are removed already are ignored.
  package mutating func remove(_ numbers: [RegistrationNumber]) {
    var thinned: Set<Int> = []
    for number in numbers {
      guard let entry = entries.removeValue(forKey: number) else { continue }
      if entry.patterns.isEmpty, let scheme = entry.scheme {
        schemeRegistrations[scheme]?.removeAll { $0 == number }
        if schemeRegistrations[scheme]?.isEmpty == true { schemeRegistrations[scheme] = nil }
      } else if let place = layers.lastIndex(where: { $0.firstNumber <= number }) {
        layers[place].liveCount -= entry.patterns.count
        if layers[place].isSparse { thinned.insert(place) }
      }
    }
    for place in thinned.sorted(by: >) {
      let left = layers[place].numbers.filter { entries[$0] != nil }
      if left.isEmpty { layers.remove(at: place) } else { layers[place] = makeLayer(of: left) }
    }
  }

  /// Returns the best registration that serves a URI and for which `fits` returns `true`. The
  /// second argument of `fits` is the pattern that matches, `nil` for the whole scheme. To get the
  /// next registration, exclude earlier ones.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` if the pattern cannot decode the URI.
  package func find(
    _ uri: RouteURI, where fits: (RegistrationNumber, RoutePattern?) -> Bool
  ) throws(PatternParameterError) -> RegistrationMatch? {
    guard !entries.isEmpty, let scheme = uri.scheme?.lowercased(), let split = try? SplitURI(uri)
    else { return nil }
    var visited: Set<RegistrationNumber> = []
    for match in matches(split) where visited.insert(match.number).inserted {
      guard let entry = entries[match.number], (entry.scheme ?? scheme) == scheme else { continue }
      let trie = layers[match.layer].trie
      let pattern = trie.pattern(of: match.candidate.form)
      guard fits(match.number, pattern) else { continue }
      let captures = try trie.captures(of: match.candidate, in: split)
      return RegistrationMatch(number: match.number, pattern: pattern, captures: captures)
    }
    for number in (schemeRegistrations[scheme] ?? []).reversed() {
      guard fits(number, nil) else { continue }
      return RegistrationMatch(number: number, pattern: nil, captures: [:])
    }
    return nil
  }

  private typealias PatternMatch = (
    number: RegistrationNumber, layer: Int, candidate: RouteTrie.Candidate
  )

  /// Returns the patterns that match, with their registrations, best first; some of those may be
  /// removed.
  private func matches(_ split: borrowing SplitURI) -> [PatternMatch] {
    var matches: [PatternMatch] = []
    for scope in [RouteTrie.MatchScope.scheme, .global] {
      var found: [(match: PatternMatch, rank: [UInt8])] = []
      for place in layers.indices.reversed() {
        let layer = layers[place]
        for candidate in layer.trie.candidates(split, in: scope) {
          let match = (layer.owner(of: candidate), place, candidate)
          // A single layer returns them in order.
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
  private struct PatternLayer: Sendable {
    /// The registrations of the layer, in order.
    let numbers: [RegistrationNumber]
    /// Their patterns, the last registered first, since the trie prefers earlier ones.
    let trie: RouteTrie
    /// The registration of each pattern of the trie.
    let owners: [RegistrationNumber]
    /// The number of patterns of registrations that are not removed.
    var liveCount: Int

    var firstNumber: RegistrationNumber { numbers[0] }
    /// Whether most of the layer is removed.
    var isSparse: Bool { liveCount * 2 < owners.count || liveCount == 0 }

    func owner(of candidate: RouteTrie.Candidate) -> RegistrationNumber {
      owners[trie.entry(of: candidate.form)]
    }
  }

  private mutating func appendLayer(_ new: [RegistrationNumber]) {
    var numbers = new
    var size = new.reduce(0) { $0 + (entries[$1]?.patterns.count ?? 0) }
    let isCrowded = layers.count >= Self.maxLayers
    while let last = layers.last, isCrowded || last.liveCount <= 2 * size {
      numbers = last.numbers.filter { entries[$0] != nil } + numbers
      size += last.liveCount
      layers.removeLast()
    }
    layers.append(makeLayer(of: numbers))
  }

  /// Returns a layer; `numbers` is not empty, and none of them is removed.
  private func makeLayer(of numbers: [RegistrationNumber]) -> PatternLayer {
    let patterns = numbers.reversed().flatMap { number in
      (entries[number]?.patterns ?? []).map { (owner: number, pattern: $0) }
    }
    return PatternLayer(
      numbers: numbers, trie: RouteTrie(patterns.map { ($0.pattern, 0) }),
      owners: patterns.map(\.owner), liveCount: patterns.count)
  }
}
