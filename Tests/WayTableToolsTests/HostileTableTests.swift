import TestSupport
import Testing
import WayTable
import WayTableTools
import WayValues

/// Tables from a hostile or careless author.
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

  private struct HostileTableGenerator {
    var random: SeededRandom

    mutating func nextName() -> String {
      let count = Int(random.next() % 4) + 1
      return (0..<count).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
    }

    mutating func members(_ count: Int, _ value: (inout HostileTableGenerator) -> Value)
      -> ValueObject
    {
      var object = ValueObject()
      for _ in 0..<count { object[nextName()] = value(&self) }
      return object
    }

    mutating func schema(_ depth: Int = 0) -> Value {
      switch random.next() % (depth > 2 ? 3 : 6) {
      case 0: return ["type": "string", "title": .string(nextName())]
      case 1:
        let one = nextName()
        let other = nextName() + "x"
        return [
          "type": ["string", "null"], "enum": [.string(one), .string(other)],
          "title": .string(nextName()),
        ]
      case 2: return ["type": "integer", "enum": [-9_223_372_036_854_775_808, 0, 7]]
      case 3: return ["type": "array", "items": schema(depth + 1)]
      default:
        let properties = members(3) { $0.schema(depth + 1) }
        let required = properties.members.prefix(1).map { Value.string($0.name) }
        return [
          "type": "object", "title": .string(nextName()), "properties": .object(properties),
          "required": .array(required),
        ]
      }
    }

    mutating func parameters() -> Value {
      .object(
        members(2) { names in
          switch names.random.next() % 3 {
          case 0: return names.schema()
          case 1: return ["type": "string", "default": .string(names.nextName())]
          default: return ["type": "integer", "default": -9_223_372_036_854_775_808]
          }
        })
    }

    mutating func table() -> Value {
      var routes: [Value] = []
      var usedNames: Set<String> = []
      for index in 0..<8 {
        let name = nextName()
        guard usedNames.insert(name).inserted else { continue }
        var route: ValueObject = [
          "name": .string(name),
          "pattern": .string("app://r\(index)/:\(index % 2 == 0 ? "in" : "id")"),
          "kind": .string(index % 3 == 0 ? "task" : "page"), "title": .string(nextName()),
          "purpose": .string(nextName()), "parameters": parameters(), "result": schema(),
          "agents": [:],
        ]
        if index % 3 != 0 {
          let methods = members(2) { names in
            [
              "title": .string(names.nextName()), "parameters": names.parameters(),
              "result": names.schema(),
            ]
          }
          route["methods"] = .object(methods)
        }
        routes.append(.object(route))
      }
      var types = ValueObject()
      for _ in 0..<3 {
        let name = nextName()
        if !name.contains(where: { "/~%".contains($0) }) { types[name] = schema() }
      }
      return [
        "version": .string(nextName()), "types": .object(types), "routes": .array(routes),
        "topics": [
          "a.b": ["title": .string(nextName()), "data": schema()], "a-b": [:], "default": [:],
        ],
      ]
    }
  }

  @Test("hostile names and texts stay in their context", arguments: 0..<30)
  func hostileNamesStayInTheirContext(seed: Int) throws {
    var names = HostileTableGenerator(random: SeededRandom(seed: UInt64(seed)))
    let document = names.table()
    let table = try RouteTable(parsing: document)
    for language in CodeLanguage.allCases {
      let code = GeneratedCode(of: table, in: language)
      var scanner = CodeScanner(code.text, language)
      do { try scanner.scan() } catch {
        Issue.record("\(language) \(seed): \(error)\n\(code.text)")
        continue
      }
      try checkUniqueDeclarations(code.text, language, seed)
    }
  }

  /// Checks that each type and each function is declared once.
  private func checkUniqueDeclarations(_ text: String, _ language: CodeLanguage, _ seed: Int) throws
  {
    let heads =
      switch language {
      case .typescript: ["export interface ", "export type ", "export const "]
      case .swift: ["public struct ", "public enum ", "public typealias ", "  public static func "]
      case .dart: ["class ", "enum ", "typedef ", "  static const String "]
      case .kotlin:
        ["data class ", "enum class ", "typealias ", "suspend fun RouteClient.", "    const val "]
      case .appintents: ["public struct ", "public enum "]
      case .appfunctions: ["data class ", "    suspend fun ", "    const val "]
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
    "the scanner rejects invalid code",
    arguments: [
      ("a \"b", "left open"), ("/* a", "left open"), ("a = \"\\(b)\"", "in a text"),
      ("a )", "closes"),
      ("{ a", "left open"), ("a // \u{202E}", "as it is"), ("\"\u{2028}\"", "as it is"),
      ("a 😀", "in the code"),
    ])
  func scannerRejectsInvalidCode(code: String, expected: String) {
    var scanner = CodeScanner(code, .swift)
    let error = #expect(throws: CodeScanner.ScanError.self) { try scanner.scan() }
    #expect(error?.reason.contains(expected) == true)
  }
}
