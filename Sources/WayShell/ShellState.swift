import WayValues

/// What a shell shows, and what the lines that are typed mean on it. Knows no bridge and no terminal.
package struct ShellState: Sendable {
  /// What is to be done about a line.
  package enum Action: Sendable, Equatable {
    /// The answer of what has this id.
    case answer(Screen.Kind, String, Value)
    /// Closes a page without a result, or fails a sheet.
    case cancel(Screen.Kind, String)
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
    /// Only the drawing is another.
    case draw
  }

  /// So many notes are kept.
  private static let maxNotes = 100

  /// Those that wait for an answer, the lowest first.
  package private(set) var screens: [Screen] = []
  /// What has happened, the latest last.
  package private(set) var notes: [String] = []
  /// How the connection is.
  package var connection = ""
  /// The session's id.
  package var session = ""
  /// What is shown in the place of the top page until a line is typed or another is there.
  package var panel: [String] = []
  /// How many lines were typed.
  package private(set) var typed = 0
  private var topPage: String?

  package init() {}

  /// What the user sees: a sheet lies over all pages.
  package var top: Screen? {
    screens.last { $0.kind == .sheet } ?? screens.last { $0.id == topPage }
      ?? screens.last
  }

  /// The pages beneath, the lowest first.
  package var beneath: [Screen] { screens.filter { $0.id != top?.id } }

  package mutating func show(_ screen: Screen) {
    screens.append(screen)
    panel = []
    if screen.kind == .page { topPage = screen.id }
  }

  /// Takes a screen away; false where there is none of this id.
  package mutating func hide(_ id: String) -> Bool {
    guard let index = screens.firstIndex(where: { $0.id == id }) else { return false }
    screens.remove(at: index)
    if topPage == id { topPage = screens.last { $0.kind == .page }?.id }
    return true
  }

  /// A page is on top again.
  package mutating func raise(_ id: String) {
    if screens.contains(where: { $0.id == id }) { topPage = id }
  }

  package mutating func note(_ text: String) {
    notes.append(text)
    if notes.count > Self.maxNotes { notes.removeFirst() }
  }

  /// What was asked has failed: it waits for an answer again.
  package mutating func reopen(_ id: String) {
    change(id) { screen in
      screen.isAnswered = false
      if case .form(var form) = screen.content, form.stepBack() { screen.content = .form(form) }
    }
  }

  /// Takes a line. Throws, with nothing changed, where it cannot be carried out.
  package mutating func take(_ line: String) throws(Order.Fault) -> Action {
    typed += 1
    panel = []
    switch try Order(line) {
    case .text(let text): return try enter(text)
    case .finish(let value): return answer(try waiting(), value)
    case .cancel:
      let screen = try waiting()
      change(screen.id) { $0.isAnswered = true }
      return .cancel(screen.kind, screen.id)
    case .up: return try stepBack()
    case .progress(let value):
      let screen = try waiting()
      guard screen.kind == .sheet else {
        throw Order.Fault(text: "progress: a page tells none, a sheet does")
      }
      return .progress(screen.id, value)
    case .back(let count):
      guard top?.kind != .sheet else {
        throw Order.Fault(text: "back: a sheet lies over the pages; answer it, or cancel it")
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

  /// Whether something waits for an answer.
  package var isAsking: Bool { top.map { !$0.isAnswered } ?? false }

  private mutating func enter(_ text: String) throws(Order.Fault) -> Action {
    // An empty line only draws again, where no field asks for one.
    if text.isEmpty, top?.isForm != true { return .draw }
    let screen = try waiting()
    switch screen.content {
    case .plain:
      throw Order.Fault(text: "\(text): no such command; help lists them")
    case .list(let choices):
      guard let number = Int(text), choices.indices.contains(number - 1) else {
        throw Order.Fault(text: "\(text): type \(screen.prompt); help lists the commands")
      }
      return answer(screen, choices[number - 1].value)
    case .form(var form):
      do throws(FormField.Fault) {
        try form.fill(text)
      } catch {
        throw Order.Fault(text: error.text)
      }
      change(screen.id) { $0.content = .form(form) }
      return form.result.map { answer(screen, $0) } ?? .draw
    }
  }

  private mutating func stepBack() throws(Order.Fault) -> Action {
    let screen = try waiting()
    guard case .form(var form) = screen.content, form.stepBack() else {
      throw Order.Fault(text: "up: there is no field before")
    }
    change(screen.id) { $0.content = .form(form) }
    return .draw
  }

  private mutating func answer(_ screen: Screen, _ value: Value) -> Action {
    change(screen.id) { $0.isAnswered = true }
    return .answer(screen.kind, screen.id, value)
  }

  private func waiting() throws(Order.Fault) -> Screen {
    guard let top else { throw Order.Fault(text: "there is no page to answer") }
    guard !top.isAnswered else { throw Order.Fault(text: "\(top.title) is answered already") }
    return top
  }

  private mutating func change(_ id: String, _ change: (inout Screen) -> Void) {
    guard let index = screens.firstIndex(where: { $0.id == id }) else { return }
    change(&screens[index])
  }
}

extension Screen {
  fileprivate var isForm: Bool {
    if case .form = content { true } else { false }
  }
}
