import WaybridgeClient

/// Formats a session's stack as lines: modal stacks are indented below the page that they cover.
enum ShellCommandStack {
  static func lines(of stack: BridgeClient.Stack) -> [String] {
    var lines = ["stack"]
    for (index, tab) in stack.tabs.enumerated() {
      let mark = index == stack.selected ? "*" : " "
      lines.append("\(mark) tab \(index) \(tab.uri), \(tab.pages.count) waiting")
    }
    add(stack.pages, 1, to: &lines)
    return lines
  }

  private static func add(
    _ pages: [BridgeClient.HostedPage], _ depth: Int, to lines: inout [String]
  ) {
    for page in pages {
      let indent = String(repeating: "  ", count: min(depth, 16))
      lines.append("\(indent)\(page.id) \(page.uri) \(page.style.rawValue) \(page.host ?? "")")
      add(page.pages, depth + 1, to: &lines)
    }
  }
}
