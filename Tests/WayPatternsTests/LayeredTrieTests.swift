import TestSupport
import Testing
import WayPatterns
import WayValues

@Suite struct LayeredTrieTests {
  private static let patterns = [
    "x:", "x:*", "x:/*", "x:/a", "x:/a/*", "x://a", "x://a/b", "x://a/:p", "x://:p/b", "x://a/*",
    "x://*", "x://a(/b)(/:c)", "y://a/b", "y://a/:p", "y:/a/b", "/User", "/user", "/User/:p",
    "/user/:p", "/USER/b", "/user/b(/:c)", "/:p", "/:p/b", "/*", "/a/b", "/a/:p",
  ]
  private static let uris = [
    "x:", "x:/a", "x:/a/b", "x://a", "x://a/b", "x://a/b/c", "x://user/b", "x://USER", "x:/user/b",
    "y://a/b", "y:/User/b", "z://a/b", "z:/a/b", "https://h.example/user/b", "x://user/c/d",
  ]

  private static func lookupSummary(_ trie: LayeredTrie, _ uri: String) throws -> [String] {
    let split = try SplitURI(RouteURI(uri))
    var results: [String] = []
    func place(_ form: Int) -> Int { trie.place(of: trie.entry(of: form)) }
    for scope in [RouteTrie.MatchScope.scheme, .global] {
      let candidates = trie.candidates(split, in: scope)
      let best = trie.best(split, in: scope)
      #expect(best?.form == candidates.first?.form)
      results += try candidates.map {
        "\(place($0.form)) \($0.priority) \(try trie.captures(of: $0, in: split))"
      }
      for limit in [2, 100] {
        results.append("\(trie.nearMisses(split, in: scope, limit: limit).map(place))")
        results.append(
          "\(trie.nearMisses(split, in: scope, limit: limit, fromRoot: true).map(place))")
      }
    }
    return results + ["\(trie.matchesInOtherSchemes(split, limit: 5).map(place))"]
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `a changed trie equals one built from scratch`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let patterns = try Self.patterns.map { try RoutePattern($0) }
    func entry(at place: Int) -> LayeredTrie.PlacedPatterns {
      let picked = (0...Int.random(in: 0...1, using: &random)).map { _ in
        patterns[Int.random(in: patterns.indices, using: &random)]
      }
      return (place, picked, Int.random(in: -1...1, using: &random))
    }
    var entries = (0..<30).map { entry(at: $0 * 2) }
    var trie = LayeredTrie(entries)
    var numbers = Dictionary(uniqueKeysWithValues: entries.indices.map { (entries[$0].place, $0) })
    var lastNumber = 0
    for step in 0..<60 {
      let place = Int.random(in: 0..<80, using: &random)
      let held = trie
      let before = try Self.lookupSummary(held, "x://a/b")
      if let index = entries.firstIndex(where: { $0.place == place }) {
        trie.remove(try #require(numbers[place]), entries[index].patterns)
        entries.remove(at: index)
      }
      if step % 3 > 0 {
        let new = entry(at: place)
        trie.insert(new.patterns, priority: new.priority, at: place)
        lastNumber -= 1
        numbers[place] = lastNumber
        entries.insert(new, at: entries.firstIndex { $0.place > place } ?? entries.count)
      }
      guard step % 4 == 3 else { continue }
      let whole = LayeredTrie(entries)
      for uri in Self.uris {
        let (actual, expected) = (
          try Self.lookupSummary(trie, uri), try Self.lookupSummary(whole, uri)
        )
        #expect(actual == expected, "seed \(seed), step \(step), \(uri)")
      }
      #expect(try Self.lookupSummary(held, "x://a/b") == before)
    }
  }

  @Test func `position decides between patterns that match one authority`() throws {
    var trie = LayeredTrie([(1, [try RoutePattern("/user/:b")], 0)])
    trie.insert([try RoutePattern("/User/:c")], priority: 0, at: 2)
    trie.insert([try RoutePattern("/USER/:a")], priority: 0, at: 0)
    let split = try SplitURI(RouteURI("x://user/7"))
    let found = trie.candidates(split, in: .global).map { trie.pattern(of: $0.form).text }
    #expect(found == ["/USER/:a", "/user/:b", "/User/:c"])
  }
}
