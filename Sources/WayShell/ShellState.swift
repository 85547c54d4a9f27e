import WayValues

/// The state of a shell, and the interpretation of input lines. It depends on neither bridge nor
/// terminal.
package struct ShellState: Sendable {
  /// The action for a line.
  package enum ShellAction: Sendable, Equatable {
    /// Submits the result of the screen with this id.
    case submit(Screen.ScreenKind, String, Value)
    /// Closes a page without a result, or fails a sheet.
    case cancel(Screen.ScreenKind, String)
    case back(Int)
    case open(String, ValueObject)
    case run(String, ValueObject)
    case invite(String)
    case tab(Int)
    case progress(String, Value)
    case stack
    case wait
    case help
    case quit
    /// Only redraws.
    case redraw
  }

  /// Maximum number of notes.
  private static let maxNotes = 100

  /// The screens that await a response, the lowest first.
  package private(set) var screens: [Screen] = []
  /// The recent notes, the latest last.
  package private(set) var notes: [String] = []
  /// The state of the connection.
  package var connection = ""
  /// The id of the session.
  package var session = ""
  /// Lines shown instead of the top page, until the next line or screen.
  package var panel: [String] = []
  /// Number of input lines so far.
  package private(set) var lineCount = 0
  private var topPageID: String?

  package init() {}

  /// The visible screen. A sheet covers all pages.
  package var top: Screen? {
    screens.last { $0.kind == .sheet } ?? screens.last { $0.id == topPageID }
      ?? screens.last
  }

  /// The screens beneath, the lowest first.
  package var beneath: [Screen] { screens.filter { $0.id != top?.id } }

  package mutating func show(_ screen: Screen) {
    screens.append(screen)
    panel = []
    if screen.kind == .page { topPageID = screen.id }
  }

  /// Removes a screen. Returns false if there is none with this id.
  package mutating func hide(_ id: String) -> Bool {
    guard let index = screens.firstIndex(where: { $0.id == id }) else { return false }
    screens.remove(at: index)
    if topPageID == id { topPageID = screens.last { $0.kind == .page }?.id }
    return true
  }

  /// Makes a page the top page again.
  package mutating func raise(_ id: String) {
    if screens.contains(where: { $0.id == id }) { topPageID = id }
  }

  package mutating func addNote(_ text: String) {
    notes.append(text)
    if notes.count > Self.maxNotes { notes.removeFirst() }
  }

  /// Awaits a response again, after the last one has failed.
  package mutating func reopen(_ id: String) {
    update(id) { screen in
      screen.isSubmitted = false
      if case .form(var form) = screen.content, form.stepBack() { screen.content = .form(form) }
    }
  }

  /// Handles a line. Throws, with nothing changed, if it is invalid.
  package mutating func handle(_ line: String) throws(ShellInputCommand.InvalidCommand)
    -> ShellAction
  {
    lineCount += 1
    panel = []
    switch try ShellInputCommand(line) {
    case .text(let text): return try enter(text)
    case .finish(let value): return submit(try awaitingScreen(), value)
    case .cancel:
      let screen = try awaitingScreen()
      update(screen.id) { $0.isSubmitted = true }
      return .cancel(screen.kind, screen.id)
    case .up: return try stepBack()
    case .progress(let value):
      let screen = try awaitingScreen()
      guard screen.kind == .sheet else {
        throw ShellInputCommand.InvalidCommand(
          text: "progress: only a sheet reports progress, not a page")
      }
      return .progress(screen.id, value)
    case .back(let count):
      guard top?.kind != .sheet else {
        throw ShellInputCommand.InvalidCommand(
          text: "back: a sheet covers the pages; finish or cancel it first")
      }
      return .back(count)
    case .open(let uri, let params): return .open(uri, params)
    case .run(let uri, let params): return .run(uri, params)
    case .invite(let address): return .invite(address)
    case .tab(let index): return .tab(index)
    case .stack: return .stack
    case .wait: return .wait
    case .help: return .help
    case .quit: return .quit
    }
  }

  /// Whether a screen awaits a response.
  package var isAwaitingInput: Bool { top.map { !$0.isSubmitted } ?? false }

  private mutating func enter(_ text: String) throws(ShellInputCommand.InvalidCommand)
    -> ShellAction
  {
    // Without a form, an empty line only redraws.
    if text.isEmpty, top?.isForm != true { return .redraw }
    let screen = try awaitingScreen()
    switch screen.content {
    case .plain:
      throw ShellInputCommand.InvalidCommand(
        text: "\(text): no such command; \"help\" lists the commands")
    case .list(let choices):
      guard let number = Int(text), choices.indices.contains(number - 1) else {
        throw ShellInputCommand.InvalidCommand(
          text: "\(text): type \(screen.prompt); \"help\" lists the commands")
      }
      return submit(screen, choices[number - 1].value)
    case .form(var form):
      do throws(FormField.InvalidInput) {
        try form.fill(text)
      } catch {
        throw ShellInputCommand.InvalidCommand(text: error.text)
      }
      update(screen.id) { $0.content = .form(form) }
      return form.result.map { submit(screen, $0) } ?? .redraw
    }
  }

  private mutating func stepBack() throws(ShellInputCommand.InvalidCommand) -> ShellAction {
    let screen = try awaitingScreen()
    guard case .form(var form) = screen.content, form.stepBack() else {
      throw ShellInputCommand.InvalidCommand(text: "up: there is no previous field")
    }
    update(screen.id) { $0.content = .form(form) }
    return .redraw
  }

  private mutating func submit(_ screen: Screen, _ value: Value) -> ShellAction {
    update(screen.id) { $0.isSubmitted = true }
    return .submit(screen.kind, screen.id, value)
  }

  private func awaitingScreen() throws(ShellInputCommand.InvalidCommand) -> Screen {
    guard let top else {
      throw ShellInputCommand.InvalidCommand(text: "there is no page or sheet to respond to")
    }
    guard !top.isSubmitted else {
      throw ShellInputCommand.InvalidCommand(text: "\(top.title) already has a response")
    }
    return top
  }

  private mutating func update(_ id: String, _ change: (inout Screen) -> Void) {
    guard let index = screens.firstIndex(where: { $0.id == id }) else { return }
    change(&screens[index])
  }
}

extension Screen {
  fileprivate var isForm: Bool {
    if case .form = content { true } else { false }
  }
}
