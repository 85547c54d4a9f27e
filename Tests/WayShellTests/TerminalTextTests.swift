import Testing
import WayShell

@Suite struct TerminalTextTests {
  @Test(arguments: [
    ("tea", 3, "tea"), ("teapot", 3, "te…"), ("tea", 0, ""), ("tea", 1, "…"), ("", 4, ""),
    // A wide character takes two columns and is never cut in half.
    ("茶茶茶", 6, "茶茶茶"), ("茶茶茶", 5, "茶茶…"), ("茶茶茶", 4, "茶…"), ("e\u{301}a", 2, "e\u{301}a"),
  ])
  func truncatesTextToColumns(text: String, columns: Int, shown: String) {
    #expect(text.sanitized(columns: columns) == shown)
    #expect(text.fitted(to: columns).columns == columns)
  }

  @Test(arguments: [
    ("\u{1B}[31mred", "␛[31mred"), ("a\nb\tc\r\u{7}", "a␊b␉c␍␇"), ("\u{7F}", "␡"),
    // C1 controls, a bidirectional control, a line separator, a private-use character.
    ("\u{9B}2J", "\u{FFFD}2J"), ("\u{202E}abc", "\u{FFFD}abc"), ("a\u{2028}b", "a\u{FFFD}b"),
    ("\u{E000}", "\u{FFFD}"), ("a\u{200D}b\u{FE0F}", "ab"),
  ])
  func replacesTerminalControlCharacters(text: String, shown: String) {
    #expect(text.sanitized() == shown)
  }

  @Test func limitsCombiningMarks() {
    let text = "e" + String(repeating: "\u{301}", count: 1000)
    #expect(text.sanitized().unicodeScalars.count == 3)
  }
}
