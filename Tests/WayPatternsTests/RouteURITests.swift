import Foundation
import TestSupport
import Testing
import WayPatterns

struct URIRow: Sendable, CustomTestStringConvertible {
  let text: String
  var scheme: String?
  var authority: String?
  var userinfo: String?
  var host: String?
  var port: Int?
  var path = ""
  var query: String?
  var fragment: String?
  var testDescription: String { text }
}

@Suite struct RouteURITests {
  @Test(
    "the components are returned as written",
    arguments: [
      URIRow(
        text: "foo://user:pw@Example.com:8042/over/there?name=ferret#nose", scheme: "foo",
        authority: "user:pw@Example.com:8042", userinfo: "user:pw", host: "Example.com", port: 8042,
        path: "/over/there", query: "name=ferret", fragment: "nose"),
      URIRow(text: "action://echo", scheme: "action", authority: "echo", host: "echo"),
      URIRow(text: "navigation:back?count=2", scheme: "navigation", path: "back", query: "count=2"),
      URIRow(text: "native:/user/5", scheme: "native", path: "/user/5"),
      URIRow(text: "native:///user", scheme: "native", authority: "", host: "", path: "/user"),
      URIRow(
        text: "urn:example:animal:ferret:nose", scheme: "urn", path: "example:animal:ferret:nose"),
      URIRow(text: ""),
      URIRow(text: "?", query: ""),
      URIRow(text: "#", fragment: ""),
      URIRow(text: "a/b:c", path: "a/b:c"),
      URIRow(text: "//h", authority: "h", host: "h"),
      URIRow(text: "x://h:", scheme: "x", authority: "h:", host: "h"),
      URIRow(text: "x://h:0080/", scheme: "x", authority: "h:0080", host: "h", port: 80, path: "/"),
      URIRow(text: "x://@", scheme: "x", authority: "@", userinfo: "", host: ""),
      URIRow(text: "x://:1", scheme: "x", authority: ":1", host: "", port: 1),
      URIRow(
        text: "ldap://[2001:db8::7]:389/c=GB?one", scheme: "ldap", authority: "[2001:db8::7]:389",
        host: "[2001:db8::7]", port: 389, path: "/c=GB", query: "one"),
      URIRow(text: "x:a?b?/c#d/?e", scheme: "x", path: "a", query: "b?/c", fragment: "d/?e"),
      URIRow(text: "x:?a#", scheme: "x", query: "a", fragment: ""),
      URIRow(text: "x:/%41%c3%A9", scheme: "x", path: "/%41%c3%A9"),
    ])
  func parsesComponents(row: URIRow) throws {
    let uri = try RouteURI(row.text)
    #expect(uri.scheme == row.scheme)
    #expect(uri.authority == row.authority)
    #expect(uri.userinfo == row.userinfo)
    #expect(uri.host == row.host)
    #expect(uri.port == row.port)
    #expect(uri.path == row.path)
    #expect(uri.query == row.query)
    #expect(uri.fragment == row.fragment)
    #expect(uri.description == row.text)
  }

  @Test(
    "text that RFC 3986 does not allow is rejected with its offset",
    arguments: [
      ("a b", .invalidCharacter(0x20), 1),
      ("x:/a\u{0}", .invalidCharacter(0), 4),
      ("x:/\"", .invalidCharacter(0x22), 3),
      ("x:/a[b]", .invalidCharacter(0x5B), 4),
      ("x:#a#b", .invalidCharacter(0x23), 4),
      ("x:?a\\", .invalidCharacter(0x5C), 4),
      ("x:/é", .notASCII, 3),
      ("x:/%", .badPercent, 3),
      ("x:/a%4", .badPercent, 4),
      ("x:/%4g", .badPercent, 3),
      ("x:?%", .badPercent, 3),
      ("x://%/", .badPercent, 4),
      ("x://a@%/", .badPercent, 6),
      (":a", .badScheme, 0),
      ("1a:b", .badScheme, 0),
      ("a_b:c", .badScheme, 1),
      ("a%20b:c", .badScheme, 1),
      ("x://a@b@c", .invalidCharacter(0x40), 7),
      ("x://a:b:1", .invalidCharacter(0x62), 6),
      ("x://h:12a", .invalidCharacter(0x61), 8),
      ("x://h:65536", .badPort, 6),
      ("x://h:99999999999999999999999", .badPort, 6),
      ("x://[::1", .badIPLiteral, 4),
      ("x://[]", .badIPLiteral, 4),
      ("x://[::1]a", .invalidCharacter(0x61), 9),
      ("x://a[::1]", .invalidCharacter(0x5B), 5),
    ] as [(String, RouteURIError.URIErrorReason, Int)])
  func rejectsInvalidURIsWithOffset(text: String, reason: RouteURIError.URIErrorReason, offset: Int)
  {
    let error = #expect(throws: RouteURIError.self) { try RouteURI(text) }
    #expect(error?.reason == reason)
    #expect(error?.offset == offset)
  }

  @Test(
    "IP literals",
    arguments: [
      ("::", true), ("::1", true), ("1::", true), ("1:2:3:4:5:6:7:8", true),
      ("1:2:3:4:5:6:7::", true), ("::2:3:4:5:6:7:8", true), ("1::3:4:5:6:7:8", true),
      ("::ffff:192.0.2.1", true), ("1:2:3:4:5:6:1.2.3.4", true), ("ABCD::ef01", true),
      ("v1.a:b", true), ("VF.!", true),
      (":", false), (":::", false), ("1:2:3:4:5:6:7", false), ("1:2:3:4:5:6:7:8:9", false),
      ("1::2::3", false), ("1:2:3:4:5:6:7:8::", false), ("::1:2:3:4:5:6:7:8", false),
      ("12345::", false), ("1:", false), (":1", false), ("::g", false), ("1.2.3.4", false),
      ("::1.2.3", false), ("::1.2.3.256", false), ("::1.2.3.04", false), ("::1.2.3.4.5", false),
      ("1:2:3:4:5:6:7:1.2.3.4", false), ("fe80::1%25eth0", false), ("v.a", false), ("v1.", false),
      ("v1", false), ("vg.a", false),
    ])
  func validatesIPLiterals(address: String, isValid: Bool) {
    #expect(((try? RouteURI("x://[\(address)]/")) != nil) == isValid)
  }

  @Test func `accepts the maximum length and rejects more`() throws {
    let longest = "x:" + String(repeating: "a", count: RouteURI.maxLength - 2)
    #expect(try RouteURI(longest).path.utf8.count == RouteURI.maxLength - 2)
    for text in [longest + "a", String(repeating: "/", count: 1 << 20)] {
      let error = #expect(throws: RouteURIError.self) { try RouteURI(text) }
      #expect(error?.reason == .tooLong)
    }
  }

  @Test func `every error describes the problem`() {
    for reason: RouteURIError.URIErrorReason in [
      .tooLong, .invalidCharacter(0), .notASCII, .badPercent, .badScheme, .badIPLiteral, .badPort,
      .noScheme, .tooManySegments,
    ] {
      #expect(RouteURIError(reason, at: 3).description.count > 10)
    }
    #expect(
      RouteURIError(.invalidCharacter(0x5B), at: 4).description.contains("\"[\" is not allowed"))
  }

  @Test func `parser imports no library and uses no regular expressions`() throws {
    let folder = ProjectFiles.url("Sources/WayPatterns").path
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
      $0.hasSuffix(".swift")
    }
    #expect(files.count > 20)
    for file in files {
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      let lines = text.split(separator: "\n")
      let imports = lines.filter { $0.hasPrefix("import ") || $0.contains("@_exported") }
      #expect(Set(imports).isSubset(of: ["import WayValues"]), "\(file)")
      #expect(!text.contains("Regex"), "\(file)")
    }
  }
}
