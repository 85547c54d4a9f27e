import TestSupport
import Testing
import WayPatterns
import WayRPC
import WayRouting
import WayTable
import WayTableTools
import WayValues

/// The files about the apps of a website, read as Apple and Google publish their forms.
struct AssociationTests {
  private static let fingerprint = (0..<32).map { $0 < 16 ? "0\(String($0, radix: 16))" : "f0" }
    .joined(separator: ":")

  private static func table(
    _ patterns: [String], redirects: Value = [], schemes: Value = [:]
  ) throws -> RouteTable {
    let routes = patterns.enumerated().map { number, pattern -> Value in
      [
        "name": "r\(number)", "pattern": .string(pattern), "kind": "page",
        "priority": .integer(Int64(number)),
      ]
    }
    return try RouteTable(
      parsing: [
        "version": "1", "routes": .array(routes), "redirects": redirects, "schemes": schemes,
      ])
  }

  private static func appleFile(
    _ table: RouteTable, host: String? = nil
  ) throws -> AppleAssociationFile {
    var export = TableExport(table)
    export.host = host
    export.appIDs = [try #require(AppleAppID("ABCDE12345.com.example.app"))]
    return try AppleAssociationFile(try export.text(as: .appleAppSiteAssociation))
  }

  @Test("a URL opens in the app if the table has a route or a redirect to the app for it")
  func fileMatchesRoutes() throws {
    let table = try Self.table(
      [
        "https://app.example", "https://app.example/user/:id(/posts/:post)",
        "https://app.example/files/*", "https://app.example/caf%C3%A9/a%2Ab/$%28lang%29",
        "https://help.example/:page", "https://app.example:8443/port",
        "native://app.example/native",
        "http://app.example/plain", "/global/:id", "https://:tenant/tenant",
      ],
      redirects: [
        ["from": "https://app.example/old/:id", "to": "native://user/:id"],
        ["from": "https://app.example/web/:id", "to": "https://www.example/:id"],
        ["from": "https://app.example/help/:id", "to": "https://help.example/:id"],
      ])
    let file = try Self.appleFile(table, host: "app.example")
    for (path, isOpened) in [
      ("/", true), ("/user/5", true), ("/user/5/", true), ("/user/", false), ("/user", false),
      ("/user//", false), ("/user/5/posts", false), ("/user/5/posts/7", true),
      ("/user/5/posts/7/", true), ("/user/5/posts/7/8", false), ("/User/5", false),
      ("/files", true),
      ("/files/", true), ("/files/a/b/c", true), ("/filesystem", false),
      ("/caf%C3%A9/a*b/$(lang)", true), ("/caf%C3%A9/ab/$(lang)", false), ("/page", false),
      ("/port", false), ("/native", false), ("/plain", false), ("/global/1", true),
      ("/global/1/2", false), ("/tenant", true), ("/tenant/", true), ("/old/1", true),
      ("/web/1", false), ("/help/1", true),
    ] {
      #expect(file.opens(path: path) == isOpened, "\(path)")
    }
    #expect(file.appIDs == ["ABCDE12345.com.example.app"])
    let closed = try Self.table(
      ["https://app.example/a", "/global/:id"], schemes: ["https": ["closed": true]])
    #expect(try !Self.appleFile(closed).opens(path: "/global/1"))
    #expect(try Self.appleFile(closed).opens(path: "/a"))
  }

  @Test("a URL opens in the app exactly if a route matches", arguments: UInt64(0)..<60)
  func fileAgreesWithRouter(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let pieces = ["/a", "/b", "/:x", "/:y", "(/c)", "(/:o/d)"]
    let starts = ["https://app.example", "https://other.example", "https://:tenant", ""]
    var patterns: [String] = []
    for number in 0..<(1 + Int.random(in: 0..<6, using: &random)) {
      let count = Int.random(in: 0..<5, using: &random)
      var used = 0
      var text = number == 0 ? starts[0] : starts[Int.random(in: 0..<4, using: &random)]
      for _ in 0..<count {
        used += 1
        text += pieces[Int.random(in: 0..<pieces.count, using: &random)]
          .replacing(":x", with: ":x\(used)").replacing(":y", with: ":y\(used)")
          .replacing(":o", with: ":o\(used)")
      }
      if Int.random(in: 0..<5, using: &random) == 0 { text += "/*" }
      if !text.isEmpty, (try? RoutePattern(text)) != nil { patterns.append(text) }
    }
    if !patterns.contains(where: { $0.hasPrefix(starts[0]) }) { patterns.append(starts[0]) }
    let table = try Self.table(patterns)
    let file = try Self.appleFile(table, host: "app.example")
    let router = Router()
    try table.apply(to: router)
    let snapshot = router.snapshot()
    // Apple's asterisk also stands for slashes, and a parameter before a wildcard cannot be limited.
    let isSuperset = patterns.contains {
      $0.hasSuffix("*") && $0.replacing("https://", with: "").contains("/:")
    }
    var matches = 0
    for _ in 0..<400 {
      let segments = (0..<Int.random(in: 0..<7, using: &random)).map { _ in
        ["a", "b", "c", "d", "e", ""][Int.random(in: 0..<6, using: &random)]
      }
      var path = segments.map { "/\($0)" }.joined()
      if path.isEmpty || Int.random(in: 0..<4, using: &random) == 0 { path += "/" }
      let resolved = try snapshot.resolve(RouteURI("https://app.example\(path)"))
      let isMatch = resolved.route != nil
      let isOpened = file.opens(path: path)
      if isMatch { matches += 1 }
      #expect(isOpened == isMatch || isOpened && isSuperset, "\(patterns) \(path)")
    }
    // The patterns may only match URLs that are rare.
    #expect(matches < 400 || file.opens(path: "/e/e/e/e/e/e/e"))
  }

  @Test("the host of a file is chosen, or the only one")
  func hostIsChosen() throws {
    let two = try Self.table(["https://a.example/x", "https://b.example/y"])
    #expect(try Self.appleFile(two, host: "b.example").opens(path: "/y"))
    for (table, host, reason) in [
      (two, nil, "\"a.example\", \"b.example\", and each host has a file of its own"),
      (two, "c.example", "matches https URLs of \"c.example\"; its patterns name \"a.example\""),
      (try Self.table(["native://a"]), nil, "no pattern of the table names a host"),
      (try Self.table(["/a"]), nil, "no pattern of the table names a host"),
    ] as [(RouteTable, String?, String)] {
      for format in [TableExport.ExportFormat.appleAppSiteAssociation, .assetLinks] {
        var export = TableExport(table)
        export.host = host
        let error = #expect(throws: TableExportError.self) { try export.text(as: format) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
      }
    }
    #expect(try Self.appleFile(try Self.table(["/a"]), host: "any.example").opens(path: "/a"))
  }

  @Test("a file that is too large for Apple is not written")
  func largeFileIsRejected() throws {
    let name = String(repeating: "x", count: 100)
    let table = try Self.table((0..<600).map { "https://app.example/\(name)\($0)" })
    let error = #expect(throws: TableExportError.self) { try Self.appleFile(table) }
    #expect(error?.description.contains("Apple reads at most 131072") == true)
  }

  @Test("Google's file has one statement for each package")
  func assetLinksNameApps() throws {
    var export = TableExport(try Self.table(["https://app.example/x"]))
    let other = Self.fingerprint.replacing("f0", with: "ab")
    export.androidApps = try [
      "com.example.app=\(Self.fingerprint)", "com.example.app.debug=\(other)",
      "com.example.app=\(other)", "com.example.app=\(Self.fingerprint.uppercased())",
    ].map(AndroidApp.init)
    let statements = try #require(try JSON.parse(export.text(as: .assetLinks)).array)
    func statement(_ package: String, _ fingerprints: [String]) -> Value {
      [
        "relation": ["delegate_permission/common.handle_all_urls"],
        "target": [
          "namespace": "android_app", "package_name": .string(package),
          "sha256_cert_fingerprints": .array(fingerprints.map { .string($0.uppercased()) }),
        ],
      ]
    }
    #expect(
      statements == [
        statement("com.example.app", [Self.fingerprint, other]),
        statement("com.example.app.debug", [other]),
      ])
  }

  @Test("identifiers of another form are rejected")
  func identifiersAreChecked() throws {
    for text in ["ABCDE12345.com.example.app", "0123456789.a", "ABCDE12345.com.my-app.X1"] {
      #expect(AppleAppID(text)?.text == text)
    }
    for text in [
      "", "com.example.app", "ABCDE1234.com.example", "ABCDE123456.com.example", "abcde12345.com.a",
      "ABCDE12345.", "ABCDE12345", "ABCDE12345..a", "ABCDE12345.com.", "ABCDE12345.com.*",
      "ABCDE1234é.com.a", "ABCDE12345.com.é",
    ] {
      #expect(AppleAppID(text) == nil, "\(text)")
    }
    for (text, reason) in [
      ("com.example.app", "PACKAGE=FINGERPRINT"), ("app=\(Self.fingerprint)", "name of a package"),
      ("com.1app=\(Self.fingerprint)", "name of a package"),
      ("com..app=\(Self.fingerprint)", "name of a package"),
      ("com.example.app=\(Self.fingerprint.dropLast(3))", "SHA-256 fingerprint"),
      ("com.example.app=\(Self.fingerprint):00", "SHA-256 fingerprint"),
      ("com.example.app=\(Self.fingerprint.replacing(":", with: ""))", "SHA-256 fingerprint"),
      ("com.example.app=\(Self.fingerprint.replacing("f0", with: "g0"))", "SHA-256 fingerprint"),
    ] {
      let error = #expect(throws: TableExportError.self) { try AndroidApp(text) }
      #expect(error?.description.contains(reason) == true, "\(text)")
    }
  }
}

/// A reader of Apple's file that knows only what Apple documents (`applinks.Details.Components`).
private struct AppleAssociationFile {
  private struct Malformed: Error { let reason: String }

  let appIDs: [String]
  private let components: [(path: [UInt8], isExcluded: Bool)]

  /// Throws for a file of another form, or of more than 128 KB.
  init(_ text: String) throws {
    guard text.utf8.count <= 131_072 else { throw Malformed(reason: "too large") }
    func members(_ value: Value?, _ names: Set<String>) throws -> ValueObject {
      guard let object = value?.object, object.members.allSatisfy({ names.contains($0.name) })
      else {
        throw Malformed(reason: "an object of \(names)")
      }
      return object
    }
    let file = try members(try JSON.parse(text), ["applinks"])
    let links = try members(file["applinks"], ["details"])
    guard let list = links["details"]?.array, list.count == 1 else {
      throw Malformed(reason: "details")
    }
    let details = try members(list[0], ["appIDs", "components"])
    appIDs = details["appIDs"]?.array?.compactMap(\.string) ?? []
    guard let all = details["components"]?.array, !all.isEmpty, !appIDs.isEmpty else {
      throw Malformed(reason: "components")
    }
    components = try all.map { component in
      let component = try members(component, ["/", "exclude", "comment"])
      guard let path = component["/"]?.string, component["comment"]?.string != nil,
        path.hasPrefix("/") || path.hasPrefix("*"), !path.contains("$("),
        component["exclude"].map({ $0 == true }) ?? true
      else { throw Malformed(reason: "component \(component)") }
      return (Array(path.utf8), component["exclude"] != nil)
    }
  }

  /// Whether the system opens a URL with this path in the app: the first match decides.
  func opens(path: String) -> Bool {
    let bytes = Array(path.utf8)
    let first = components.first { Self.matches($0.path[...], bytes[...]) }
    return first.map { !$0.isExcluded } ?? false
  }

  /// `*` matches any characters, possibly none, and `?` exactly one.
  private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == UInt8(ascii: "*") {
      return (text.startIndex...text.endIndex).contains {
        matches(pattern.dropFirst(), text[$0...])
      }
    }
    guard let next = text.first, first == UInt8(ascii: "?") || first == next else { return false }
    return matches(pattern.dropFirst(), text.dropFirst())
  }
}
