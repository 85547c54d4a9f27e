import WayTable

/// Lines of code with their indentation.
struct CodeWriter {
  private(set) var text = ""
  private var depth = 0
  private let unit: String

  /// `unit` is the indentation of one level.
  init(unit: String) {
    self.unit = unit
  }

  /// A line; an empty one has no indentation.
  mutating func line(_ line: String = "") {
    if !line.isEmpty { text += String(repeating: unit, count: depth) + line }
    text += "\n"
  }

  /// Lines as they are.
  mutating func verbatim(_ lines: String) { text += lines }

  /// What stands between an opening and a closing line, one level further in.
  mutating func block(_ open: String, _ close: String = "}", _ body: (inout CodeWriter) -> Void) {
    line(open)
    rest(of: close, body)
  }

  /// What stands between the line before, which has opened a block, and a closing one.
  mutating func rest(of close: String = "}", _ body: (inout CodeWriter) -> Void) {
    depth += 1
    body(&self)
    depth -= 1
    line(close)
  }

  /// A comment of lines that each begin with `mark`; nothing where there are none.
  mutating func comment(_ lines: [String], mark: String) {
    for text in lines { line(text.isEmpty ? mark : "\(mark) \(text)") }
  }

  /// A comment between `/**` and `*/`, out of which no text comes; nothing where there are none.
  mutating func blockComment(_ lines: [String]) {
    let lines = lines.map(\.withoutCommentMarks)
    guard let first = lines.first else { return }
    if lines.count == 1 {
      line("/** \(first) */")
      return
    }
    line("/**")
    for text in lines { line(text.isEmpty ? " *" : " * \(text)") }
    line(" */")
  }
}

extension CodeModel {
  /// What stands above the code: where it is from, and what is not in it.
  var heading: [String] {
    var lines = [
      "Made by `waybridge routes generate` from version \(stamp.version.visible) of the route table",
      "(hash \(stamp.hash)). Change the table, not this file.",
    ]
    if !leftOut.isEmpty {
      lines += [
        "",
        "Left out, since none of their patterns has a scheme, so that their URI is not known:",
      ]
      lines += leftOut.map { "- \($0.visible)" }
    }
    return lines
  }
}

extension CodeMember {
  /// Its notes and its default, as one text.
  var explanation: String {
    var parts = notes
    if let defaultValue { parts.append("Where it is left out: \(defaultValue.visibleText).") }
    return parts.joined(separator: " ")
  }
}

/// Code that was generated from a table.
package struct GeneratedCode: Sendable {
  /// What its file is called.
  package let fileName: String
  /// What stands in it: the same for the same table, always.
  package let text: String

  /// Generates code.
  ///
  /// - Parameter module: what Swift code imports: `WaybridgeClient`, or `Waybridge` on the side of
  ///   the server. In Kotlin the package of the file; nil for none.
  package init(of table: RouteTable, in language: CodeLanguage, module: String? = nil) {
    let model = CodeModel(table, language)
    fileName = language.fileName
    text =
      switch language {
      case .typescript: TypeScriptCode(model).text
      case .swift: SwiftCode(model, module: module ?? "WaybridgeClient").text
      case .dart: DartCode(model).text
      case .kotlin: KotlinCode(model, package: module).text
      }
  }
}
