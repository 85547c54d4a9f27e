/// The notation of stacks in `protocol/navigation.json`, which its `about` describes, taken apart.
package struct StackDescription {
  /// `ID`, `ID=ROUTE`, `ID=ROUTE/VALUE` or `ID=URI`, with `@HOST`.
  package struct Page {
    package let id: String
    /// What stands for the route or the URI: the id where nothing does.
    package let place: String
    package let host: String
    /// `[` or `(` where a modal begins with the page.
    package let opening: Character?

    package init(_ text: String, opening: Character? = nil) throws {
      let halves = text.split(separator: "@", omittingEmptySubsequences: false)
      let parts = halves[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let id = parts.first, !id.isEmpty, halves.count <= 2 else {
        throw TranscriptFailure(description: "no page: \(text)")
      }
      self.id = String(id)
      place = parts.count > 1 ? String(parts[1]) : String(id)
      host = halves.count > 1 ? String(halves[1]) : "native"
      self.opening = opening
    }

    /// The place as a URI.
    package var uri: String { place.contains(":") ? place : "page://\(place)" }
  }

  /// The pages of a tab, or of no tab.
  package struct Part {
    package var tab: Int?
    package var pages: [Page] = []
  }

  /// The part that is shown first.
  package private(set) var parts: [Part] = []

  package init(_ text: String) throws {
    var part = Part()
    var opening: Character?
    for token in text.split(separator: " ") {
      if token == "/" {
        parts.append(part)
        part = Part()
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
      part.pages.append(try Page(String(text), opening: opening))
      opening = nil
    }
    parts.append(part)
  }
}
