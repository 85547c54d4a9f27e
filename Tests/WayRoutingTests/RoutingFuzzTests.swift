import TestSupport
import Testing
import WayPatterns
import WayValues

@testable import WayRouting

/// An arbitrary string is parsed as a URI or pattern, or rejected. Parsed values are consistent.
@Suite struct RoutingFuzzTests {
  static let sampleURIs = [
    "native://address/list?selected=7&x=a+b&x=%2B#top",
    "http://user:pw@[2001:db8::7]:8080/a/./b/../c",
    "navigation:back?count=2", "//h:80/p;x=1", "../a?b#c", "tel:+1-816", "native://[v1.fe::a+b]/",
    "flutter://profile/%C3%A9/%41", "http://h/é/用户",
  ]
  static let fuzzPieces = [
    "://", "/", "//", "?", "#", ":", "@", "[", "]", "%", "%2", "%00", "%2F", "%ff", "&", "=", "+",
    ";", "..",
    "/../", "/./", "::", "1.2.3.4", ":65536", "é", "用", "😀", " ", "\0", "\u{7F}", "\\", "(", ")",
    "*", ":id",
    "(/a)", "(/:b(/c))", "native", "http:",
  ]

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func parsesOrRejectsRandomURIs(seed: UInt64) throws {
    var source = FuzzSource(seed: seed, samples: Self.sampleURIs, pieces: Self.fuzzPieces)
    let base = try RouteURI("native://base/a/b?c#d")
    for _ in 0..<250 {
      let text = String(decoding: source.next(), as: UTF8.self)
      let uri: RouteURI
      do {
        uri = try RouteURI(text)
      } catch {
        #expect((0...text.utf8.count).contains(error.offset), "seed \(seed): \(text): \(error)")
        continue
      }
      let whole =
        (uri.scheme.map { $0 + ":" } ?? "") + (uri.authority.map { "//" + $0 } ?? "") + uri.path
        + (uri.query.map { "?" + $0 } ?? "") + (uri.fragment.map { "#" + $0 } ?? "")
      #expect(whole == text, "seed \(seed)")
      let normalized = uri.normalized
      #expect(normalized.normalized == normalized, "seed \(seed): \(text)")
      #expect(try RouteURI(normalized.text) == normalized, "seed \(seed): \(text)")
      #expect(try uri.resolved(against: base).scheme != nil, "seed \(seed): \(text)")
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func resolvesRandomTextWithinLimits(seed: UInt64) throws {
    let router = Router()
    for pattern in [
      "native://address/:id", "/user(/:name)(/more)/*", "http://h/:a/:b", "flutter://*",
    ] {
      try router.page(pattern)
    }
    var reader = CachingRouteResolver(router)
    var source = FuzzSource(seed: seed, samples: Self.sampleURIs, pieces: Self.fuzzPieces)
    for _ in 0..<250 {
      let text = String(decoding: source.next(), as: UTF8.self)
      // The error is a `RouterResolutionError`, as the signature declares; parameters have a size limit.
      guard case .match(let match)? = try? reader.resolve(text, params: [:], for: nil) else {
        continue
      }
      #expect(match.params.count <= RouteURI.maxParameters + RouteURI.maxSegments, "seed \(seed)")
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func parsesOrRejectsRandomPatterns(seed: UInt64) throws {
    var source = FuzzSource(
      seed: seed,
      samples: [
        "native://address/:id", "/user(/:name)(/more)/*", "http://host:80/a%20b/:x",
        "/a(/b(/c(/d)))",
        "scheme:/a/:b",
      ], pieces: Self.fuzzPieces)
    for _ in 0..<250 {
      let text = String(decoding: source.next(), as: UTF8.self)
      let pattern: RoutePattern
      do {
        pattern = try RoutePattern(text)
      } catch {
        #expect((0...text.utf8.count).contains(error.offset), "seed \(seed): \(text): \(error)")
        continue
      }
      #expect((1...RoutePattern.maxForms).contains(pattern.formCount), "seed \(seed): \(text)")
      let names = pattern.parameterNames
      #expect(Set(names).count == names.count, "seed \(seed): \(text)")
      let trie = RouteTrie([(pattern, 0)])
      for text in Self.sampleURIs {
        let split = try SplitURI(RouteURI(mapping: text))
        for candidate in trie.candidates(split) {
          #expect(trie.pattern(of: candidate.form) == pattern)
        }
      }
    }
  }
}
