import Dispatch
import Foundation
import WayShell

/// Draws a shell in place, on the alternate screen of the terminal, and again when its size changes.
struct ShellCommandTerminal: ShellCommandView {
  /// Whether there is an interactive terminal that can be drawn on.
  static var isAvailable: Bool {
    isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
      && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  private enum TerminalUpdate: Sendable {
    case state(ShellState)
    /// The size of the terminal has changed.
    case resize
  }

  private let updates: AsyncStream<TerminalUpdate>
  private let source: AsyncStream<TerminalUpdate>.Continuation
  private let isColoured = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

  init() {
    // The latest state counts. The buffer holds more than one, since a resize must not displace the
    // state.
    (updates, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
  }

  /// Does nothing: the state's notes contain the events.
  func report(_ lines: [String]) {}

  func show(_ state: ShellState) { source.yield(.state(state)) }

  func end() { source.finish() }

  func run() async throws {
    let resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .global())
    resizes.setEventHandler { [source] in source.yield(.resize) }
    resizes.resume()
    defer { resizes.cancel() }
    var shown: ShellState?
    try Self.write("\u{1B}[?1049h\u{1B}[2J")
    defer { try? Self.write("\u{1B}[?1049l") }
    for await update in updates {
      switch update {
      case .state(let latest):
        try draw(latest, clears: false, prompts: latest.lineCount != shown?.lineCount)
        shown = latest
      case .resize: if let shown { try draw(shown, clears: true, prompts: true) }
      }
    }
  }

  /// Draws all lines except the last. Draws the last line, and places the cursor in it, if
  /// `prompts` is set: at first, and after a line was typed, which has scrolled the screen.
  ///
  /// Each row is a separate write that leaves the cursor behind the prompt. The terminal echoes
  /// input between two writes, so that it appears there, and never within a sequence.
  private func draw(_ state: ShellState, clears: Bool, prompts: Bool) throws {
    let size = Self.size
    let picture = ShellRenderer(columns: size.columns, rows: size.rows, isColoured: isColoured)
    if clears { try Self.write("\u{1B}[2J") }
    if prompts { try Self.write("\u{1B}[\(size.rows);1H\(ShellRenderer.prompt)\u{1B}[K") }
    for (row, line) in picture.lines(of: state).enumerated() {
      try Self.write("\u{1B}7\u{1B}[\(row + 1);1H\(line)\u{1B}[K\u{1B}8")
    }
  }

  private static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  private static func write(_ text: String) throws(CommandError) {
    var output = Output()
    try output.append(text)
    try output.flush()
  }
}
