import Foundation
import Testing
import WayTable
import WayTableTools

/// Each language against the file that it made when somebody last looked at it. To make them anew:
/// `UPDATE_GOLDEN=1 swift test --filter GoldenTests`, and look at what has changed.
struct GoldenTests {
  @Test("the small table gives the code that is kept", arguments: CodeLanguage.allCases)
  func code(language: CodeLanguage) throws {
    try compare(GeneratedCode(of: try TableFixtures.small(), in: language).text, language.fileName)
  }

  @Test("the same table gives the same bytes", arguments: CodeLanguage.allCases)
  func same(language: CodeLanguage) throws {
    let first = GeneratedCode(of: try TableFixtures.demo(), in: language)
    #expect(first.text == GeneratedCode(of: try TableFixtures.demo(), in: language).text)
    #expect(first.text.utf8.count > 1000)
  }

  @Test("the file says which table it is from", arguments: CodeLanguage.allCases)
  func stamp(language: CodeLanguage) throws {
    let table = try TableFixtures.small()
    let lines = GeneratedCode(of: table, in: language).text.split(separator: "\n")
    #expect(lines.contains { $0.contains(table.stamp.hash) && $0.hasPrefix("//") })
    #expect(lines.contains { $0.contains("\"\(table.stamp.hash)\"") })
    #expect(lines.contains { $0.contains("\"1.4.0\"") })
  }

  @Test("Swift imports what it is told to")
  func module() throws {
    let table = try TableFixtures.small()
    #expect(
      GeneratedCode(of: table, in: .swift, module: "Waybridge").text.contains(
        "\nimport Waybridge\n"))
    #expect(GeneratedCode(of: table, in: .swift).text.contains("\nimport WaybridgeClient\n"))
  }

  private func compare(_ text: String, _ name: String) throws {
    let file = TableFixtures.golden.appending(path: "\(name).txt")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try Data(text.utf8).write(to: file)
    }
    let kept = try TableFixtures.text(of: file)
    for (number, (line, other)) in zip(
      text.split(separator: "\n", omittingEmptySubsequences: false),
      kept.split(separator: "\n", omittingEmptySubsequences: false)
    ).enumerated() where line != other {
      Issue.record("\(name):\(number + 1): \(line) in the place of \(other)")
      return
    }
    #expect(text.utf8.count == kept.utf8.count)
  }
}
