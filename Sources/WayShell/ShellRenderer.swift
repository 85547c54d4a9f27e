/// Draws a shell's state for a terminal: the edges of the pages beneath, the top page in a frame,
/// and recent notes.
package struct ShellRenderer: Sendable {
  /// The minimum size. On a smaller terminal the output overflows.
  private static let minimumSize = (columns: 20, rows: 8)
  /// Maximum number of edges of pages beneath.
  private static let maxEdges = 3

  private let columns: Int
  private let rows: Int
  private let isColoured: Bool

  package init(columns: Int, rows: Int, isColoured: Bool) {
    self.columns = min(max(columns, Self.minimumSize.columns), 500)
    self.rows = min(max(rows, Self.minimumSize.rows), 200)
    self.isColoured = isColoured
  }

  private enum TerminalStyle: String {
    case bold = "1"
    case dim = "2"
    case inverse = "7"
    case warning = "33"
    case plain = ""
  }

  /// The lines, one fewer than the rows: the last row is for input.
  package func lines(of state: ShellState) -> [String] {
    let room = rows - 1
    var lines = [statusBar(state)]
    let notes = state.notes.suffix(max(1, rows / 5))
    let beneath = state.beneath.suffix(Self.maxEdges)
    let isRoomy = room - 1 - notes.count - beneath.count >= 6
    if isRoomy { lines += edges(state.beneath) }
    let height = room - lines.count - notes.count
    if !state.panel.isEmpty {
      let body = state.panel.map { (TerminalStyle.plain, $0) }
      lines += box(body, "waybridge", "an empty line shows the page again", height)
    } else {
      lines +=
        state.top.map { frame($0, height, isOver: isRoomy && !beneath.isEmpty) }
        ?? emptyFrame(height)
    }
    lines += notes.map { styled(.dim, $0.fitted(to: columns)) }
    return Array(lines.prefix(room))
  }

  /// The prompt of the input line.
  package static let prompt = "> "

  private func statusBar(_ state: ShellState) -> String {
    let count = state.screens.count
    let text =
      " waybridge shell │ \(state.connection) │ \(count == 1 ? "1 page" : "\(count) pages")"
      + " │ \(state.session)"
    return styled(.inverse, text.fitted(to: columns))
  }

  private func edges(_ screens: [Screen]) -> [String] {
    let shown = screens.suffix(Self.maxEdges)
    let hidden = screens.count - shown.count
    return shown.enumerated().map { index, screen in
      let more = index == 0 && hidden > 0 ? " (and \(hidden) beneath)" : ""
      return styled(.dim, edge(index == 0 ? "┌┐" : "├┤", screen.title + more))
    }
  }

  /// A horizontal line of a frame with a title in it.
  private func edge(_ corners: String, _ title: String) -> String {
    let text = title.sanitized(columns: columns - 6)
    let line = String(repeating: "─", count: columns - 5 - text.columns)
    return "\(corners.prefix(1))─ \(text) \(line)\(corners.suffix(1))"
  }

  private func frame(_ screen: Screen, _ height: Int, isOver: Bool) -> [String] {
    let isSheet = screen.kind == .sheet
    let top = edge(isOver ? "├┤" : "┌┐", isSheet ? "▲ \(screen.title)" : screen.title)
    let bottom = edge("└┘", screen.prompt)
    let body = body(of: screen, max(1, height - 2))
    return [styled(isSheet ? .warning : .bold, top)] + body.map(row)
      + [styled(isSheet ? .warning : .plain, bottom)]
  }

  private func emptyFrame(_ height: Int) -> [String] {
    let words = ["No page is shown", "\"open URI\" opens one; \"help\" lists the commands"]
    return box(words.map { (.dim, $0) }, "waybridge", "help", height)
  }

  private func box(
    _ body: [(TerminalStyle, String)], _ title: String, _ prompt: String, _ height: Int
  ) -> [String] {
    let room = max(1, height - 2)
    let rest = [(TerminalStyle, String)](repeating: (.plain, ""), count: max(0, room - body.count))
    return [edge("┌┐", title)] + (body.prefix(room) + rest).map(row) + [edge("└┘", prompt)]
  }

  private func row(_ line: (style: TerminalStyle, text: String)) -> String {
    "│ " + styled(line.style, line.text.fitted(to: columns - 4)) + " │"
  }

  /// Exactly `count` lines. If there is not enough room, the content has priority.
  private func body(of screen: Screen, _ count: Int) -> [(TerminalStyle, String)] {
    let tasks = screen.contentLines
    let share = min(tasks.count, max(1, count - 2))
    var facts: [(TerminalStyle, String)] =
      [(.dim, screen.uri)] + screen.details.map { (.plain, $0) }
    if !tasks.isEmpty { facts.append((.plain, "")) }
    let room = max(0, count - share)
    if facts.count > room {
      let hidden = facts.count - room + 1
      facts = Array(facts.prefix(max(0, room - 1)))
      if room > 0 { facts.append((.dim, "… \(hidden) more lines")) }
    }
    let lines = facts + window(tasks, screen.focusedLine, count - facts.count).map { (.plain, $0) }
    return lines
      + [(TerminalStyle, String)](repeating: (.plain, ""), count: max(0, count - lines.count))
  }

  /// At most `count` of the lines, including the focused one.
  private func window(_ lines: [String], _ focus: Int, _ count: Int) -> [String] {
    guard lines.count > count, count > 0 else { return Array(lines.prefix(max(0, count))) }
    guard count > 1 else { return [lines[min(focus, lines.count - 1)]] }
    let start = min(max(0, focus - count + 2), lines.count - count + 1)
    let end = min(start + count - 1, lines.count)
    let hidden = lines.count - (end - start)
    return Array(lines[start..<end]) + ["… \(hidden) more"]
  }

  private func styled(_ style: TerminalStyle, _ text: String) -> String {
    isColoured && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}
