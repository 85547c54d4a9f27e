import TestSupport
import Testing
import WayPatterns

@Suite struct PatternIndexTests {
  /// The reference model: all entries in one flat table.
  private struct FlatHostIndex {
    var entries: [(number: Int, scheme: String?, patterns: [RoutePattern])] = []

    func candidates(_ uri: RouteURI) throws -> [Int] {
      let split = try SplitURI(uri)
      let scheme = uri.scheme?.lowercased() ?? ""
      let fitting = entries.filter { ($0.scheme ?? scheme) == scheme }.reversed()
      let patterns = fitting.flatMap { entry in entry.patterns.map { (entry.number, $0) } }
      let trie = RouteTrie(patterns.map { ($0.1, 0) })
      var numbers: [Int] = []
      for candidate in trie.candidates(split) {
        let number = patterns[trie.entry(of: candidate.form)].0
        if !numbers.contains(number) { numbers.append(number) }
      }
      return numbers + fitting.filter { $0.patterns.isEmpty }.map(\.number)
    }
  }

  @Test("layers return the same hosts as one flat table", arguments: 0..<20)
  func layersMatchAFlatTable(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var index = PatternIndex()
    var model = FlatHostIndex()
    let segments = ["a", "b", "c", ":p", "*"]
    func pattern(_ random: inout SeededRandom) throws -> RoutePattern {
      var path: [String] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let segment = segments.randomElement(using: &random) ?? "a"
        path.append(segment == ":p" ? ":p\(path.count)" : segment)
        if segment == "*" { break }
      }
      let start = ["x://", "y://", "/"].randomElement(using: &random) ?? "/"
      return try RoutePattern(start + path.joined(separator: "/"))
    }
    for step in 0..<120 {
      if model.entries.isEmpty || Int.random(in: 0..<5, using: &random) < 3 {
        var added: [(scheme: String?, patterns: [RoutePattern])] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let whole = Int.random(in: 0..<6, using: &random) == 0
          var patterns: [RoutePattern] = []
          for _ in 0..<(whole ? 0 : Int.random(in: 1...5, using: &random)) {
            patterns.append(try pattern(&random))
          }
          added.append((whole ? "x" : nil, patterns))
        }
        let numbers = index.add(added)
        for (number, entry) in zip(numbers, added) {
          model.entries.append((number, entry.scheme, entry.patterns))
        }
        #expect(numbers.count == added.count)
      } else {
        let count = Int.random(in: 1...min(6, model.entries.count), using: &random)
        let removed = model.entries.shuffled(using: &random).prefix(count).map(\.number)
        index.remove(removed)
        model.entries.removeAll { removed.contains($0.number) }
      }
      #expect(index.count == model.entries.count)
      for text in ["x://a", "x://a/b", "x://b/c/a", "y://a/b", "x:/a/b", "x:", "y://c/c/c"] {
        let uri = try RouteURI(text)
        let expected = try model.candidates(uri)
        var found: [Int] = []
        _ = try index.find(uri) { number, _ in
          found.append(number)
          return false
        }
        #expect(found == expected, "seed \(seed), step \(step), \(text)")
      }
    }
  }
}
