import TestSupport
import WayNavigation
import WayTransport
import WayValues

@testable import WaySession

extension Rights {
  /// Those of the app itself, for tests of parts.
  static let app = Rights.ofApp(in: "s-1", nil)
}

/// Plays the session of ``Pages``: does what they say, and notes it.
struct PagesFixture {
  var pages: Pages
  /// What went against the rules.
  private(set) var faults: [String] = []
  private var lines: [String] = []
  /// Calls that are not answered, with the page they are shown.
  private var open: [CallNumber: String?] = [:]
  /// Pages that their hosts show, or are being asked for.
  private var atHost: Set<String> = []
  private var asked: [String] = []
  private let alarm = MemoryLoop()

  init(maxBytes: Int = 1 << 20) {
    pages = Pages(ByteBudget(.stack, maxBytes)) { 0 }
  }

  /// What was done since it was asked last.
  var log: [String] {
    mutating get {
      defer { lines = [] }
      return lines
    }
  }

  mutating func open(
    _ uri: String, call: CallNumber, style: Style = .push, host: String = "c-1"
  ) throws(CallError) {
    let page = Page(id: pages.makePageID(), uri: uri, route: nil, style: style, host: host)
    let charge = try pages.charge(page)
    open[call] = .some(nil)
    pages.open(
      PageOpening(
        page: page, presenter: .client(1), call: call, by: .app, charge: charge))
    act([])
  }

  /// Opens a page, and its host agrees.
  mutating func show(_ uri: String, call: CallNumber) throws(CallError) {
    try open(uri, call: call)
    if let page = asked.last { answer(page) }
    lines = []
  }

  mutating func answer(_ page: String, _ error: CallError? = nil, declined: Bool = false) {
    asked.removeAll { $0 == page }
    if error == nil { atHost.insert(page) }
    act(pages.answered(page, error, declined: declined))
  }

  mutating func overdue(_ page: String) { act(pages.overdue(page)) }

  mutating func abandon(_ call: CallNumber) {
    open[call] = nil
    act(pages.abandon(call))
  }

  mutating func change(_ operation: StackOperation, call: CallNumber, exts: ValueObject = [:]) {
    open[call] = .some(nil)
    pages.change(operation, for: call, by: Rights.app.caller, exts: exts)
    act([])
  }

  mutating func cancel(_ page: String, call: CallNumber) { act(pages.cancel(page, for: call)) }

  mutating func act(_ first: [PageAction]) {
    var actions = first
    repeat {
      for action in actions { perform(action) }
      actions = pages.advance()
    } while !actions.isEmpty
  }

  private mutating func perform(_ action: PageAction) {
    switch action {
    case .ask(let opening):
      asked.append(opening.page.id)
      pages.asked(
        .swift(Task {}), for: opening.page.id, timeout: alarm.schedule(after: .seconds(1)) {})
      lines.append("ask \(opening.page.id)")
    case .recall: lines.append("recall")
    case .close(let page, _, let reason, let exts):
      if atHost.remove(page.id) == nil { faults.append("\(page.id) was closed and is not shown") }
      let words = ["close", page.id, reason.rawValue] + exts.members.map(\.name)
      lines.append(words.joined(separator: " "))
    case .resume(let page, _): lines.append("resume \(page.id)")
    case .shown(let call, let page):
      if open[call] == nil { faults.append("\(call) is shown a page after its end") }
      open[call] = page
      lines.append("shown \(page) to \(call)")
    case .settle(let call, let result):
      if open.removeValue(forKey: call) == nil { faults.append("\(call) ends twice") }
      lines.append("settle \(call) \(Self.word(result))")
    case .goOn(let call):
      open[call] = nil
      lines.append("go on \(call)")
    case .tell(_, let happening, _): lines.append(Self.word(happening))
    }
  }

  private static func word(_ result: Result<Answer, CallError>) -> String {
    switch result {
    case .failure(let error): "error \(error.code)"
    case .success(.change): "change"
    case .success(.outcome(let outcome)): outcome.kind.rawValue
    case .success(.value): "value"
    case .success(.document): "document"
    }
  }

  private static func word(_ happening: Happening) -> String {
    switch happening {
    case .pageAsked(let page): "asked \(page.uri)"
    case .pageOpened(let page, _): "opened \(page.uri)"
    case .pageResumed(let page): "resumed \(page.uri)"
    case .pageClosed(let page, _, _): "closed \(page.uri)"
    case .pageFailed(let page, _, _): "failed \(page.uri)"
    case .hostSilent(let client, _): "silent \(client)"
    default: "\(happening)"
    }
  }
}

// Random events.
extension PagesFixture {
  mutating func play(seed: UInt64, steps: Int) throws {
    var random = SeededRandom(seed: seed)
    for call in 1...steps {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        let style = Style.allCases.filter { $0 != .tab }.randomElement(using: &random) ?? .push
        let host = "c-\(Int.random(in: 1...2, using: &random))"
        try open("u\(Int.random(in: 0..<4, using: &random))", call: call, style: style, host: host)
      case 4...6:
        guard let page = asked.randomElement(using: &random) else { break }
        let refuses = Int.random(in: 0..<4, using: &random) == 0
        answer(page, refuses ? CallError(code: 1, message: "") : nil)
      case 7:
        change(.back(.count(Int.random(in: 0...2, using: &random))), call: call)
      case 8:
        // In an order that repeats itself.
        guard let call = open.keys.sorted().randomElement(using: &random) else { break }
        if case let page?? = open[call] { cancel(page, call: call) } else { abandon(call) }
      default:
        switch Int.random(in: 0..<3, using: &random) {
        case 0: if let page = asked.first { overdue(page) }
        case 1: leave("c-2")
        default: if let page = pages.stack.top { finish(page.id, call: call) }
        }
      }
      check("seed \(seed), step \(call)")
    }
    act(pages.end())
    for call in open.keys { abandon(call) }
    for page in asked { answer(page) }
    if pages.count != 0 { faults.append("seed \(seed): \(pages.count) pages are left") }
    if !atHost.isEmpty { faults.append("seed \(seed): hosts still show \(atHost)") }
    faults = faults.map { "seed \(seed): \($0)" }
  }

  private mutating func finish(_ page: String, call: CallNumber) {
    change(.finish(page: page, result: .finished()), call: call)
  }

  /// A host is gone: what it shows is not told to close.
  private mutating func leave(_ host: String) {
    act(pages.hostLeft(host))
  }

  private mutating func check(_ place: String) {
    let stack = Set(pages.stack.allPages.map(\.id))
    if pages.count != stack.count { faults.append("\(place): pages without an entry") }
  }
}
