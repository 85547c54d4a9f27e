import TestSupport
import Testing
import WayTable
import WayTableTools
import WayValues

/// Tables whose author means harm, or does not think of code.
struct HostileTableTests {
  private static let pieces = [
    "*/", "/*", "//", "\"", "'", "`", "${x}", "$x", "\\", "\\(x)", "\\\"", "\n", "\r", "\t",
    "\u{0}", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}", "\u{202E}", "\u{2066}", "\u{200F}",
    "\u{FEFF}", "\u{200D}", "\u{301}", "\u{3164}", "\u{E000}", "\u{FFFE}", "\u{E0001}", "😀", "👩‍👩‍👧",
    "𝒜", "地址", "é", "ß", "ﬁ", "א", "ن", "क", "½", "ª", "_", "$", "-", " ", ".", "<", ">", "&", "{",
    "}",
    "(", ")", "[", "]", "#", "@", "%", ":", ";", "a", "B", "9", "class", "default", "in", "Self",
    "String", "value", "routes", "self", "hashCode", "</script>", "]]>", "---", "|",
  ]

  private struct Names {
    var random: SeededRandom

    mutating func next() -> String {
      let count = Int(random.next() % 4) + 1
      return (0..<count).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
    }

    mutating func members(_ count: Int, _ value: (inout Names) -> Value) -> ValueObject {
      var object = ValueObject()
      for _ in 0..<count { object[next()] = value(&self) }
      return object
    }

    mutating func schema(_ depth: Int = 0) -> Value {
      switch random.next() % (depth > 2 ? 3 : 6) {
      case 0: return ["type": "string", "title": .string(next())]
      case 1:
        let one = next()
        let other = next() + "x"
        return [
          "type": ["string", "null"], "enum": [.string(one), .string(other)],
          "title": .string(next()),
        ]
      case 2: return ["type": "integer", "enum": [-9_223_372_036_854_775_808, 0, 7]]
      case 3: return ["type": "array", "items": schema(depth + 1)]
      default:
        let properties = members(3) { $0.schema(depth + 1) }
        let required = properties.members.prefix(1).map { Value.string($0.name) }
        return [
          "type": "object", "title": .string(next()), "properties": .object(properties),
          "required": .list(required),
        ]
      }
    }

    mutating func parameters() -> Value {
      .object(
        members(2) { names in
          switch names.random.next() % 3 {
          case 0: return names.schema()
          case 1: return ["type": "string", "default": .string(names.next())]
          default: return ["type": "integer", "default": -9_223_372_036_854_775_808]
          }
        })
    }

    mutating func table() -> Value {
      var routes: [Value] = []
      var taken: Set<String> = []
      for index in 0..<8 {
        let name = next()
        guard taken.insert(name).inserted else { continue }
        var route: ValueObject = [
          "name": .string(name),
          "pattern": .string("app://r\(index)/:\(index % 2 == 0 ? "in" : "id")"),
          "kind": .string(index % 3 == 0 ? "task" : "page"), "title": .string(next()),
          "purpose": .string(next()), "parameters": parameters(), "result": schema(),
        ]
        if index % 3 != 0 {
          let methods = members(2) { names in
            [
              "title": .string(names.next()), "parameters": names.parameters(),
              "result": names.schema(),
            ]
          }
          route["methods"] = .object(methods)
        }
        routes.append(.object(route))
      }
      var types = ValueObject()
      for _ in 0..<3 {
        let name = next()
        if !name.contains(where: { "/~%".contains($0) }) { types[name] = schema() }
      }
      return [
        "version": .string(next()), "types": .object(types), "routes": .list(routes),
        "topics": [
          "a.b": ["title": .string(next()), "data": schema()], "a-b": [:], "default": [:],
        ],
      ]
    }
  }

  @Test("no name and no text comes out of where it stands", arguments: 0..<30)
  func code(seed: Int) throws {
    var names = Names(random: SeededRandom(seed: UInt64(seed)))
    let document = names.table()
    let table = try RouteTable(parsing: document)
    for language in CodeLanguage.allCases {
      let code = GeneratedCode(of: table, in: language)
      var scanner = CodeScanner(code.text, language)
      do { try scanner.scan() } catch {
        Issue.record("\(language) \(seed): \(error)\n\(code.text)")
        continue
      }
      try checkDeclared(code.text, language, seed)
    }
  }

  /// Each type and each function is declared once.
  private func checkDeclared(_ text: String, _ language: CodeLanguage, _ seed: Int) throws {
    let heads =
      switch language {
      case .typescript: ["export interface ", "export type ", "export const "]
      case .swift: ["public struct ", "public enum ", "public typealias ", "  public static func "]
      case .dart: ["class ", "enum ", "typedef ", "  static const String "]
      case .kotlin:
        ["data class ", "enum class ", "typealias ", "suspend fun RouteClient.", "    const val "]
      }
    var seen: Set<String> = []
    var count = 0
    for line in text.split(separator: "\n") {
      guard let head = heads.first(where: line.hasPrefix) else { continue }
      let name = line.dropFirst(head.count).prefix { !" (:={<;".contains($0) }
      let isType = head.first != " " && !head.contains("fun")
      count += 1
      if !seen.insert("\(isType ? "type" : "name") \(name)").inserted {
        Issue.record("\(language) \(seed): \(name) is declared twice")
      }
    }
    #expect(count > 5)
  }

  @Test(
    "the scanner finds what is wrong",
    arguments: [
      ("a \"b", "left open"), ("/* a", "left open"), ("a = \"\\(b)\"", "in a text"),
      ("a )", "closes"),
      ("{ a", "left open"), ("a // \u{202E}", "as it is"), ("\"\u{2028}\"", "as it is"),
      ("a 😀", "in the code"),
    ])
  func scanner(code: String, expected: String) {
    var scanner = CodeScanner(code, .swift)
    let error = #expect(throws: CodeScanner.Fault.self) { try scanner.scan() }
    #expect(error?.reason.contains(expected) == true)
  }
}
