/// A parser for the notation of stacks in `protocol/navigation.json` (described there under
/// `about`).
package struct StackDescription {
  /// `ID`, `ID=ROUTE`, `ID=ROUTE/VALUE` or `ID=URI`, with `@HOST`.
  package struct NotatedPage {
    package let id: String
    /// The route or URI; the page's id if the notation has none.
    package let target: String
    package let host: String
    /// `[` or `(` if a modal stack begins with this page.
    package let modalBracket: Character?

    package init(_ text: String, modalBracket: Character? = nil) throws {
      let halves = text.split(separator: "@", omittingEmptySubsequences: false)
      let parts = halves[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let id = parts.first, !id.isEmpty, halves.count <= 2 else {
        throw TranscriptFailure(description: "no page: \(text)")
      }
      self.id = String(id)
      target = parts.count > 1 ? String(parts[1]) : String(id)
      host = halves.count > 1 ? String(halves[1]) : "native"
      self.modalBracket = modalBracket
    }

    /// The route as a URI.
    package var uri: String { target.contains(":") ? target : "page://\(target)" }
  }

  /// The pages of one tab, or of a stack without tabs.
  package struct StackSection {
    package var tab: Int?
    package var pages: [NotatedPage] = []
  }

  /// The sections; the first one is the selected tab.
  package private(set) var sections: [StackSection] = []

  package init(_ text: String) throws {
    var part = StackSection()
    var opening: Character?
    for token in text.split(separator: " ") {
      if token == "/" {
        sections.append(part)
        part = StackSection()
        continue
      }
      if token.last == ":" {
        part.tab = Int(token.dropLast())
        continue
      }
      var text = token
      if let first = text.first, first == "[" || first == "(" {
        opening = first
        text.removeFirst()
      }
      while let last = text.last, last == "]" || last == ")" { text.removeLast() }
      part.pages.append(try NotatedPage(String(text), modalBracket: opening))
      opening = nil
    }
    sections.append(part)
  }
}
