import Testing
import WayTransport

@testable import WaySockets

@Suite struct OriginPatternTests {
  /// A pattern, origins that match it, and origins that do not.
  static let patterns: [(String, meant: [String], others: [String])] = [
    (
      "https://app.example.org",
      ["https://app.example.org", "https://app.example.org:443", "HTTPS://APP.EXAMPLE.ORG"],
      [
        "http://app.example.org", "https://app.example.org:8443", "https://example.org",
        "https://a.app.example.org", "https://app.example.org.evil.example",
        "https://app-example.org", "null",
      ]
    ),
    (
      "http://localhost:*",
      [
        "http://localhost", "http://localhost:80", "http://localhost:3000",
        "http://localhost:65535",
      ],
      ["https://localhost:3000", "http://localhost.evil.example:3000", "http://127.0.0.1:3000"]
    ),
    (
      "https://*.example.org", ["https://a.example.org", "https://xn--4ca.example.org"],
      [
        "https://example.org", "https://a.b.example.org", "https://a.example.org:444",
        "https://aexample.org", "https://a.example.org.evil.example", "http://a.example.org",
      ]
    ),
    ("https://*.example.org:*", ["https://a.example.org:1"], ["https://a.b.example.org:1"]),
    ("http://[::1]:3000", ["http://[::1]:3000"], ["http://[::1]", "http://[::2]:3000"]),
    (
      "capacitor://localhost", ["capacitor://localhost"],
      ["capacitor://localhost:1", "capacitor://"]
    ),
    ("file://", ["file://"], ["null", "file://host"]),
    ("null", ["null"], ["https://null", "file://"]),
  ]

  @Test(arguments: patterns)
  func `Compares origins by scheme, host and port`(
    pattern: String, meant: [String], others: [String]
  ) throws {
    let pattern = try #require(OriginPattern(pattern))
    for text in meant {
      #expect(pattern.matches(try #require(WebOrigin(text))), "\(text)")
    }
    for text in others {
      #expect(!pattern.matches(try #require(WebOrigin(text))), "\(text)")
    }
    #expect(OriginPattern(pattern.description) == pattern)
  }

  static let invalidOrigins = [
    "", "NULL", "http", "http:", "http:/", "http://", "http:///", "http://a/", "http://a?b",
    "http://a#b", "http://a:", "http://a:0", "http://a:65536", "http://a:00080", "http://a:8x",
    "http://u@a", "http://u:p@a", "http://a.", "http://.a", "http://a..b", "http://a b",
    "http://a, http://b", "http://a http://b", "http://127.1", "http://0x7f.1", "http://2130706433",
    "http://0177.0.0.1", "http://127.0.0.1.", "http://127.0.0.256", "http://1.2.3.4.5",
    "http://[::1",
    "http://::1", "http://[0:0:0:0:0:0:0:1]", "http://[::ffff:127.0.0.1]", "http://[::1%25lo]",
    "http://[127.0.0.1]", "http://%6cocalhost", "http://ä.example", "http://*",
    "http://*.a.example",
    "1a://b", "-://b", "null null",
  ]

  @Test(arguments: invalidOrigins)
  func `Rejects invalid origins`(text: String) {
    #expect(WebOrigin(text) == nil)
  }

  @Test func `Address range contains only addresses of its network`() throws {
    let cases: [(String, String, Bool)] = [
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
      ("192.0.2.128/25", "192.0.2.129", true), ("192.0.2.128/25", "192.0.2.127", false),
      ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
      ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
      ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::1", "::1", true),
      ("10.0.0.0/8", "::ffff:10.0.0.1", true), ("::/0", "10.0.0.1", false),
    ]
    for (range, address, isInside) in cases {
      let range = try #require(SocketAddressRange(range))
      #expect(range.contains(try #require(IPAddress(address))) == isInside, "\(range) \(address)")
    }
    for text in ["", "1.2.3", "1.2.3.4 ", "01.2.3.4", "::1%lo", "[::1]", "1.2.3.4\0"] {
      #expect(IPAddress(text) == nil, "\(text)")
    }
  }
}
