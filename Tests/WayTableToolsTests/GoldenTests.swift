import Foundation
import Testing
import WayTable
import WayTableTools

/// Compares each language with its reviewed golden file. To regenerate the files, run
/// `UPDATE_GOLDEN=1 swift test --filter GoldenTests` and review the changes.
struct GoldenTests {
  @Test("the generated code matches the golden file", arguments: CodeLanguage.allCases)
  func generatedCodeMatchesGoldenFile(language: CodeLanguage) throws {
    try compare(GeneratedCode(of: try TableFixtures.small(), in: language).text, language.fileName)
  }

  @Test("generating twice returns the same bytes", arguments: CodeLanguage.allCases)
  func generationIsDeterministic(language: CodeLanguage) throws {
    let first = GeneratedCode(of: try TableFixtures.demo(), in: language)
    #expect(first.text == GeneratedCode(of: try TableFixtures.demo(), in: language).text)
    #expect(first.text.utf8.count > 1000)
  }

  @Test("the generated file names its table", arguments: CodeLanguage.allCases)
  func generatedFileNamesItsTable(language: CodeLanguage) throws {
    let table = try TableFixtures.small()
    let lines = GeneratedCode(of: table, in: language).text.split(separator: "\n")
    #expect(lines.contains { $0.contains(table.stamp.hash) && $0.hasPrefix("//") })
    #expect(lines.contains { $0.contains("\"\(table.stamp.hash)\"") })
    #expect(lines.contains { $0.contains("\"1.4.0\"") })
  }

  @Test("Swift code imports the given module")
  func importsConfiguredSwiftModule() throws {
    let table = try TableFixtures.small()
    #expect(
      GeneratedCode(of: table, in: .swift, module: "Waybridge").text.contains(
        "\nimport Waybridge\n"))
    #expect(GeneratedCode(of: table, in: .swift).text.contains("\nimport WaybridgeClient\n"))
  }

  private func compare(_ text: String, _ name: String) throws {
    let file = TableFixtures.goldenFolder.appending(path: "\(name).txt")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try Data(text.utf8).write(to: file)
    }
    let golden = try TableFixtures.text(of: file)
    for (number, (line, other)) in zip(
      text.split(separator: "\n", omittingEmptySubsequences: false),
      golden.split(separator: "\n", omittingEmptySubsequences: false)
    ).enumerated() where line != other {
      Issue.record("\(name):\(number + 1): \(line) in the place of \(other)")
      return
    }
    #expect(text.utf8.count == golden.utf8.count)
  }
}
