import Foundation

/// The text of `--help`.
enum HelpText {
  /// The paragraphs that follow the options, by their first words.
  private static let lastLabels = [
    "Limits: ", "Help topics: ", "Environment: ", "Files: ", "Exit code: ",
  ]

  /// Arranges the text of the argument parser, which has the whole description before the usage.
  /// The order becomes: purpose, usage, examples, description, options, and the paragraphs of
  /// `lastLabels`. Returns any other text unchanged.
  static func arranged(_ text: String) -> String {
    let paragraphs = text.components(separatedBy: "\n\n").map(withoutLineFeeds)
    guard text.hasPrefix("OVERVIEW: "),
      let usage = paragraphs.firstIndex(where: { $0.hasPrefix("USAGE: ") })
    else { return text }
    var examples: [String] = []
    var description: [String] = []
    var last: [String] = []
    for paragraph in paragraphs[1..<usage] {
      // The manual page has all limits; the help refers to a topic.
      if paragraph.hasPrefix("Settings without a flag:") { continue }
      if paragraph.hasPrefix("Example: ") {
        examples += lines(ofExamples: paragraph)
      } else if let label = lastLabels.first(where: { paragraph.hasPrefix($0) }) {
        last.append("\(label.uppercased())\(paragraph.dropFirst(label.count))")
      } else {
        description.append(paragraph)
      }
    }
    var arranged = [paragraphs[0], paragraphs[usage]]
    if !examples.isEmpty { arranged.append((["EXAMPLES:"] + examples).joined(separator: "\n")) }
    arranged += description
    arranged += paragraphs[(usage + 1)...]
    arranged += last
    return arranged.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// The examples of a paragraph, each on one line so that it can be copied.
  private static func lines(ofExamples paragraph: String) -> [String] {
    let label = "Example: "
    var examples: [String] = []
    for line in paragraph.split(separator: "\n") {
      if line.hasPrefix(label) {
        examples.append("  \(line.dropFirst(label.count))")
      } else if let example = examples.popLast() {
        // The argument parser has wrapped this example.
        examples.append("\(example) \(line)")
      }
    }
    return examples
  }

  /// Removes the line feeds at both ends.
  private static func withoutLineFeeds(_ text: String) -> String {
    text.trimmingCharacters(in: .newlines)
  }
}
