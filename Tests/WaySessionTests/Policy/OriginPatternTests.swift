import Testing
import WayTransport

struct OriginPatternTests {
  @Test(
    arguments: [
      ("https://example.org", "https://example.org", true),
      ("https://example.org", "HTTPS://EXAMPLE.ORG", true),
      ("https://example.org", "https://example.org:443", true),
      ("https://example.org:443", "https://example.org", true),
      ("http://example.org", "http://example.org:80", true),
      ("https://example.org", "http://example.org", false),
      ("https://example.org", "https://example.org:444", false),
      ("https://example.org", "https://example.org.evil.test", false),
      ("https://example.org", "https://evilexample.org", false),
      ("https://example.org", "https://example.org.", false),
      ("https://example.org", "https://me@example.org", false),
      ("https://example.org", "https://example.org/", false),
      ("https://example.org", "https://a.example.org", false),
      ("https://example.org", "null", false),
      ("https://example.org", "", false),
      ("http://localhost:*", "http://localhost", true),
      ("http://localhost:*", "http://localhost:5173", true),
      ("http://localhost:*", "https://localhost:5173", false),
      ("http://localhost:*", "http://localhost:99999", false),
      ("http://localhost:*", "http://localhost:*", false),
      ("https://*.example.org", "https://a.example.org", true),
      ("https://*.example.org", "https://a.b.example.org", false),
      ("https://*.example.org", "https://example.org", false),
      ("https://*.example.org", "https://.example.org", false),
      ("https://*.example.org", "https://aexample.org", false),
      ("http://127.0.0.1:8080", "http://127.1:8080", false),
      ("http://127.0.0.1:8080", "http://2130706433:8080", false),
      ("http://[::1]:8080", "http://[::1]:8080", true),
      ("http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080", false),
      ("http://k.test", "http://\u{212A}.test", false),
      ("chrome-extension://abc", "chrome-extension://abc", true),
      ("null", "null", true),
      ("null", "https://null", false),
    ])
  func coversJustItsOrigins(pattern: String, origin: String, covers: Bool) {
    #expect(OriginPattern(pattern)?.covers(origin) == covers)
  }

  @Test(
    arguments: [
      "", "*", "example.org", "https://", "https://*", "https://*.", "https://a.*.org",
      "https://example.org/path", "https://me@example.org", "https://example.org:port",
      "https://example.org:70000", "https://[::1", "https://exa mple.org", "://a", "https://*:*",
    ])
  func refusesWhatIsNoOrigin(text: String) {
    #expect(OriginPattern(text) == nil)
  }
}
