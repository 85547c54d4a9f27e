import TestSupport
import WayNavigation
import WayTransport
import WayValues

@testable import WaySession

extension Rights {
  /// The rights of the app, for tests of parts.
  static let app = Rights.app(in: "s-1", nil)
}

/// Stands in for the session of ``Pages``: applies their effects and records them.
struct PagesFixture {
  var pages: Pages
  /// The violated invariants.
  private(set) var violations: [String] = []
  private var logLines: [String] = []
  /// Calls without a response, with the page that they opened.
  private var openCalls: [CallNumber: String?] = [:]
  /// The calls of pages of edits that have not ended.
  private var openParts: Set<CallNumber> = []
  /// Those whose hosts have declined.
  private var declinedParts: [CallNumber] = []
  /// Pages that hosts show or have been requested to show.
  private var hostedPages: Set<String> = []
  private var requestedPages: [String] = []
  /// Guards that have been asked and have not responded.
  private var askedQuestions: [Int] = []
  private let timerLoop = MemoryLoop()

  init(maxBytes: Int = 1 << 20, observesVisibility: Bool = false) {
    pages = Pages(
      ByteBudget(.stack, maxBytes), now: { 0 }, observesVisibility: { observesVisibility })
  }

  /// The effects since the last read.
  var log: [String] {
    mutating get {
      defer { logLines = [] }
      return logLines
    }
  }

  mutating func open(
    _ uri: String, called: String? = nil, call: CallNumber, style: Style = .push,
    params: ValueObject = [:], exts: ValueObject = [:], host: String = "c-1", tab: Int? = nil
  ) throws(CallError) {
    let page = Page(
      id: pages.makePageID(), uri: uri, calledURI: called, route: nil, style: style, params: params,
      exts: exts, host: host)
    let charge = try pages.charge(page)
    openCalls[call] = .some(nil)
    pages.open(
      PageOpening(
        page: page, hostReference: .client(1), call: call, by: .app, charge: charge, tab: tab,
        delivering: NavigationDelivery(of: page, hasParams: !params.isEmpty, hasExts: !exts.isEmpty)
      ))
    performAll([])
  }

  /// Edits the stack. The calls of the pages are `call * 1000` and those that follow.
  mutating func edit(
    _ range: PageRange<PageReference>?, opening uris: [String], call: CallNumber,
    exts: ValueObject = [:], host: String = "c-1"
  ) throws(CallError) {
    let parts = uris.indices.map { call * 1000 + $0 }
    openCalls[call] = .some(nil)
    openParts.formUnion(parts)
    pages.begin(
      StackEdit(
        range, parts: parts, for: call, by: Rights.app.caller, exts: exts, closing: { _, _ in nil })
    )
    for (part, uri) in zip(parts, uris) { try resolve(uri, part, of: call, host: host) }
  }

  /// Puts a page into an edit, as its call does that has resolved its URI.
  mutating func resolve(
    _ uri: String, _ part: CallNumber, of call: CallNumber, host: String = "c-1"
  ) throws(CallError) {
    let page = Page(id: pages.makePageID(), uri: uri, route: nil, host: host)
    pages.open(
      PageOpening(
        page: page, hostReference: .client(1), call: part, by: .app,
        charge: try pages.charge(page), edit: call, respondsWithChange: true))
    performAll([])
  }

  /// Fails the call of a page of an edit.
  mutating func failPart(_ part: CallNumber, of call: CallNumber) {
    guard openParts.remove(part) != nil else { return }
    performAll(pages.failEdit(call, CallError(code: 2404, message: ""), by: part))
  }

  /// Opens a page and accepts it for its host.
  mutating func show(_ uri: String, call: CallNumber, tab: Int? = nil) throws(CallError) {
    try open(uri, call: call, tab: tab)
    if let page = requestedPages.last { respond(page) }
    logLines = []
  }

  mutating func respond(_ page: String, _ error: CallError? = nil, declined: Bool = false) {
    requestedPages.removeAll { $0 == page }
    if error == nil { hostedPages.insert(page) }
    performAll(pages.handleResponse(page, error, declined: declined))
  }

  mutating func timeOut(_ page: String) { performAll(pages.timeOut(page)) }

  mutating func abandon(_ call: CallNumber) {
    openCalls[call] = nil
    performAll(pages.abandon(call))
  }

  mutating func changeStack(_ operation: StackOperation, call: CallNumber, exts: ValueObject = [:])
  {
    openCalls[call] = .some(nil)
    pages.change(
      StackRequest(
        operation: operation, call: call, caller: Rights.app.caller, exts: exts,
        closing: { _, _ in nil }))
    performAll([])
  }

  /// Responds for the guard that was asked last.
  mutating func decide(_ verdict: LeaveQuestions.LeaveVerdict) {
    guard let question = askedQuestions.popLast() else { return }
    performAll(pages.handleVerdict(verdict, on: question))
  }

  mutating func cancel(_ page: String, call: CallNumber) {
    performAll(pages.cancel(page, for: call))
  }

  mutating func performAll(_ first: [SessionPageAction]) {
    var actions = first
    repeat {
      for action in actions { perform(action) }
      actions = pages.advance()
    } while !actions.isEmpty
  }

  private mutating func perform(_ action: SessionPageAction) {
    switch action {
    case .requestOpen(let opening):
      requestedPages.append(opening.page.id)
      pages.recordRequest(
        .app(Task {}), for: opening.page.id, timeout: timerLoop.schedule(after: .seconds(1)) {})
      logLines.append(
        "ask \(opening.page.id)" + (opening.upperPage.map { " under \($0)" } ?? ""))
    case .cancelRequest: logLines.append("recall")
    case .close(let page, _, let reason, let exts):
      if hostedPages.remove(page.id) == nil {
        violations.append("\(page.id) was closed and is not shown")
      }
      let words = ["close", page.id, reason.rawValue] + exts.members.map(\.name)
      logLines.append(words.joined(separator: " "))
    case .resume(let page, _, let delivery):
      let words = ["resume", page.id] + (delivery?.value.members.map(\.name) ?? [])
      logLines.append(words.joined(separator: " "))
    case .shown(let call, let page):
      if openCalls[call] == nil { violations.append("\(call) is shown a page after its end") }
      openCalls[call] = page
      logLines.append("shown \(page) to \(call)")
    case .settle(let call, let result):
      if openParts.remove(call) != nil { break }
      if openCalls.removeValue(forKey: call) == nil { violations.append("\(call) ends twice") }
      logLines.append("settle \(call) \(Self.summary(result))")
    case .continueCall(let call):
      if openParts.contains(call) { declinedParts.append(call) } else { openCalls[call] = nil }
      logLines.append("go on \(call)")
    case .askGuard(let question):
      askedQuestions.append(question.number)
      logLines.append("ask guard of \(question.page.id)")
    case .emit(_, let event, _): logLines.append(Self.summary(event))
    }
  }

  private static func summary(_ result: Result<SessionCallResponse, CallError>) -> String {
    switch result {
    case .failure(let error): "error \(error.code)"
    case .success(.stackChange): "change"
    case .success(.outcome(let outcome)): outcome.kind.rawValue
    case .success(.value): "value"
    case .success(.openRPCDocument): "document"
    }
  }

  private static func summary(_ event: SessionEvent) -> String {
    switch event {
    case .pageRequested(let page): "asked \(page.uri)"
    case .pageOpened(let page, _): "opened \(page.uri)"
    case .pageResumed(let page): "resumed \(page.uri)"
    case .pageClosed(let page, _, _): "closed \(page.uri)"
    case .pageFailed(let page, _, _): "failed \(page.uri)"
    case .pageVisibilityChanged(let page, let visibility): "\(visibility) \(page.uri)"
    case .hostTimedOut(let client, _): "silent \(client)"
    default: "\(event)"
    }
  }
}

// Random events.
extension PagesFixture {
  mutating func runRandomEvents(seed: UInt64, steps: Int) throws {
    var random = SeededRandom(seed: seed)
    for call in 1...steps {
      switch Int.random(in: 0..<15, using: &random) {
      case 10:
        guard let page = pages.stack.allPages.randomElement(using: &random) else { break }
        try pages.setGuard(
          of: Int.random(in: 1...2, using: &random), for: page.id,
          timeout: Bool.random(using: &random) ? .seconds(1) : nil)
      case 13, 14: try editAtRandom(call, using: &random)
      case 11: decide(.allow)
      case 12: decide(.deny(reason: "no"))
      case 0...3:
        let style = Style.allCases.filter { $0 != .tab }.randomElement(using: &random) ?? .push
        let host = "c-\(Int.random(in: 1...2, using: &random))"
        let tab = Int.random(in: 0..<8, using: &random)
        try open(
          "u\(Int.random(in: 0..<4, using: &random))", call: call, style: style,
          params: Bool.random(using: &random) ? ["call": .integer(Int64(call))] : [:], host: host,
          tab: tab < 2 ? tab : nil)
      case 4...6:
        guard let page = requestedPages.randomElement(using: &random) else { break }
        let refuses = Int.random(in: 0..<4, using: &random) == 0
        let declines = refuses && Bool.random(using: &random)
        respond(page, refuses ? CallError(code: 1, message: "") : nil, declined: declines)
        for part in declinedParts {
          // The next host of the page, if its call has one.
          if Bool.random(using: &random), openParts.contains(part) {
            try resolve("next", part, of: part / 1000)
          } else {
            failPart(part, of: part / 1000)
          }
        }
        declinedParts = []
      case 7:
        changeStack(.back(.count(Int.random(in: 0...2, using: &random))), call: call)
      case 8:
        // In a reproducible order.
        guard let call = openCalls.keys.sorted().randomElement(using: &random) else { break }
        if case let page?? = openCalls[call] { cancel(page, call: call) } else { abandon(call) }
      default:
        switch Int.random(in: 0..<3, using: &random) {
        case 0: if let page = requestedPages.first { timeOut(page) }
        case 1: removeHost("c-2")
        default: if let page = pages.stack.top { finish(page.id, call: call) }
        }
      }
      checkInvariants("seed \(seed), step \(call)")
    }
    performAll(pages.end())
    while !askedQuestions.isEmpty { decide(.allow) }
    for call in openCalls.keys { abandon(call) }
    for page in requestedPages { respond(page) }
    if pages.count != 0 { violations.append("seed \(seed): \(pages.count) pages are left") }
    if !openParts.isEmpty { violations.append("the calls \(openParts) have not ended") }
    if !hostedPages.isEmpty { violations.append("seed \(seed): hosts still show \(hostedPages)") }
    violations = violations.map { "seed \(seed): \($0)" }
  }

  private mutating func editAtRandom(
    _ call: CallNumber, using random: inout SeededRandom
  ) throws {
    let page = PageReference.page(pages.stack.pages.randomElement(using: &random)?.id ?? "none")
    let range: PageRange<PageReference>? =
      [.page(page), .from(page), .above(page), .all, nil].randomElement(using: &random) ?? nil
    let uris = (0..<Int.random(in: 0...3, using: &random)).map { "e\($0)" }
    if uris.isEmpty { return changeStack(.edit(range, opening: []), call: call) }
    let host = "c-\(Int.random(in: 1...2, using: &random))"
    try edit(range, opening: uris, call: call, host: host)
  }

  private mutating func finish(_ page: String, call: CallNumber) {
    changeStack(.finish(page: page, result: .finished()), call: call)
  }

  /// Removes a host, whose pages receive no close request.
  private mutating func removeHost(_ host: String) {
    performAll(pages.hostLeft(host))
  }

  private mutating func checkInvariants(_ place: String) {
    let stack = Set(pages.stack.allPages.map(\.id))
    if pages.count != stack.count { violations.append("\(place): pages without an entry") }
    for page in pages.stack.allPages where pages[page.id]?.page.params != page.params {
      violations.append("\(place): \(page.id) has other parameters than its entry")
    }
  }
}
