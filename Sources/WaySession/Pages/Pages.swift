import DequeModule
import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// The pages of a session: the stack, who shows each page, who awaits it, and what waits for its
/// turn.
///
/// Operations are done one after another: while a host is asked for a page, the others wait. What
/// waits is bounded by the calls in flight: a call that ends takes its operation out. Pure: each
/// method gives what is to be done, after which ``advance()`` gives what comes next.
struct Pages {
  /// A page that is on the stack. Belongs to the isolation of its session.
  final class Open {
    let page: Page
    let presenter: HostReference
    /// Who opened it.
    let caller: Caller
    /// The host that a client shows it with, and the page that it was opened from.
    let chosen: ChosenHost?
    let opener: String?
    /// The calls that are answered with the page's outcome.
    fileprivate(set) var openers: [CallNumber]
    /// When it came onto the stack, in the loop's nanoseconds.
    fileprivate let since: UInt64
    private let charge: ByteBudget.Charge

    fileprivate init(
      _ page: Page, _ presenter: HostReference, by caller: Caller, chosen: ChosenHost?,
      opener: String?, openers: [CallNumber], since: UInt64, _ charge: ByteBudget.Charge
    ) {
      self.page = page
      self.presenter = presenter
      self.caller = caller
      self.chosen = chosen
      self.opener = opener
      self.openers = openers
      self.since = since
      self.charge = charge
    }

    /// As `page.open` told it.
    var params: Value {
      PageOpening.params(page, page.style, caller: caller.value, chosen: chosen, opener: opener)
    }
  }

  private indirect enum Operation {
    case open(PageOpening)
    /// A change that needs nobody's leave.
    case change(StackOperation, call: CallNumber, by: Caller, exts: ValueObject)
    /// Puts a page on the stack that is shown already.
    case adopt(Page, HostReference, call: CallNumber, by: Caller, ByteBudget.Charge)
    /// The call's page closes, unless another call awaits it by then.
    case cancel(page: String, call: CallNumber)

    var call: CallNumber {
      switch self {
      case .open(let opening): opening.call
      case .change(_, let call, _, _), .adopt(_, _, let call, _, _), .cancel(_, let call): call
      }
    }
  }

  private(set) var stack = NavigationStack()
  private var open: [String: Open] = [:]
  private var waiting: Deque<Operation> = []
  private var openings = Openings()
  /// The call whose host has just declined its page: what it opens next keeps its turn.
  private var declined: CallNumber?
  /// While set, nothing new is begun.
  var isHeld = false
  private let budget: ByteBudget
  private let now: () -> UInt64
  private let journal: Journal?
  private var lastPage = 0

  /// `budget` is that of the pages; `now` is the loop's clock, in nanoseconds.
  init(_ budget: ByteBudget, _ journal: Journal? = nil, now: @escaping () -> UInt64) {
    self.budget = budget
    self.journal = journal
    self.now = now
  }

  /// How many pages are on the stack.
  var count: Int { open.count }

  /// A page that is on the stack.
  subscript(id: String) -> Open? { open[id] }

  /// The call that a page is being opened for.
  func call(openingOf page: String) -> CallNumber? { openings.call(openingOf: page) }

  /// Whether what a call wants has not had its turn.
  func isWaiting(_ call: CallNumber) -> Bool { waiting.contains { $0.call == call } }

  /// A name for a new page, unique in the session.
  mutating func makePageID() -> String {
    lastPage += 1
    // What was given in an earlier life of the server may still be shown somewhere.
    guard let term = journal?.term, term > 1 else { return "p\(lastPage)" }
    return "p\(term)-\(lastPage)"
  }

  /// Takes what a page costs. Fails with 2413 where the session's pages hold too much already, and
  /// with 2429 where the session or the server does.
  func charge(_ page: Page) throws(CallError) -> ByteBudget.Charge {
    let bytes =
      page.uri.utf8.count + Value.object(page.params).size + Value.object(page.exts).size
    do { return try budget.charge(bytes) } catch { throw CallError(error, for: bytes) }
  }
}

// What is asked for.
extension Pages {
  /// Opens a page, in its turn.
  mutating func open(_ opening: PageOpening) {
    if opening.call == declined {
      waiting.prepend(.open(opening))
    } else {
      waiting.append(.open(opening))
    }
  }

  /// Changes the stack, in its turn, and answers the call with the change.
  mutating func change(
    _ operation: StackOperation, for call: CallNumber, by caller: Caller, exts: ValueObject
  ) {
    waiting.append(.change(operation, call: call, by: caller, exts: exts))
  }

  /// Puts a page on the stack that is shown already, in its turn, and answers the call with the
  /// page.
  mutating func adopt(
    _ page: Page, at presenter: HostReference, for call: CallNumber, by caller: Caller,
    _ charge: ByteBudget.Charge
  ) {
    waiting.append(.adopt(page, presenter, call: call, by: caller, charge))
  }

  /// An opener cancelled after its page was shown. The page closes in its turn, unless somebody
  /// else awaits it too.
  mutating func cancel(_ page: String, for call: CallNumber) -> [PageAction] {
    if let answers = leaveToOthers(page, call) { return answers }
    waiting.append(.cancel(page: page, call: call))
    return []
  }

  /// A call that no longer waits for its page, which stays.
  mutating func forget(_ call: CallNumber, openerOf page: String) {
    open[page]?.openers.removeAll { $0 == call }
  }

  /// A call was given up whose operation waits, or whose host is asked.
  mutating func abandon(_ call: CallNumber) -> [PageAction] {
    waiting.removeAll { $0.call == call }
    return openings.abandon(call).map { [.recall($0)] } ?? []
  }

  /// The next operation's beginning; empty while a host is asked, and when nothing waits.
  mutating func advance() -> [PageAction] {
    declined = nil
    while !isHeld, !openings.holdUpOthers, let operation = waiting.popFirst() {
      let actions = begin(operation)
      if !actions.isEmpty { return actions }
    }
    return []
  }

  private mutating func begin(_ operation: Operation) -> [PageAction] {
    switch operation {
    case .open(let opening): return begin(opening)
    case .change(let change, let call, let caller, let exts):
      if let refusal = refusal(of: change, by: caller) {
        return [.settle(call, .failure(refusal))]
      }
      return answer(call, change, exts: exts) { .change($0) }
    case .adopt(let page, let presenter, let call, let caller, let charge):
      keep(page, presenter, by: caller, openers: [], charge, nil)
      return answer(call, .open(page)) { .value(.object(($0.shown ?? page).value)) }
    case .cancel(let page, let call):
      if let answers = leaveToOthers(page, call) { return answers }
      let ending = try? apply(.cancel(page: page, outcome: .cancelled()))
      return ending?.actions ?? []
    }
  }

  private mutating func begin(_ opening: PageOpening) -> [PageAction] {
    guard opening.start() else { return [] }
    let change: StackChange
    do { change = try stack.check(opening.operation) } catch {
      return [.settle(opening.call, .failure(CallError(error)))]
    }
    if let refusal = refusal(of: opening.operation, by: opening.caller) {
      return [.settle(opening.call, .failure(refusal))]
    }
    if let existing = change.existing {
      if opening.answersChange { return answer(opening.call, opening.operation) { .change($0) } }
      open[existing.id]?.openers.append(opening.call)
      let found = try? apply(opening.operation, shown: (opening.call, existing.id))
      return found?.actions ?? []
    }
    opening.style = change.shown?.style ?? opening.page.style
    opening.began = now()
    openings.begin(opening)
    return [.tell(.page, .pageAsked(opening.page), by: opening.caller), .ask(opening)]
  }

  /// Why a guest may not do what closes others' pages, or shows another tab.
  private func refusal(of operation: StackOperation, by caller: Caller) -> CallError? {
    guard caller.isGuest else { return nil }
    if case .select = operation { return .uninvited("A guest may not select a tab") }
    guard let change = try? stack.check(operation),
      !change.closed.allSatisfy({ isOwn($0.page, of: caller) })
    else { return nil }
    return .uninvited("A guest closes no pages but its own and those that it opened")
  }

  /// The stack as a caller is told it; `tabs` are the URIs of the tabs.
  func value(tabs: [String], for caller: Caller) -> Value {
    stack.value(tabs: tabs) { value(of: $0, for: caller) }
  }

  /// What a caller is told of a page. A guest learns of others' pages only that they are there.
  private func value(of page: Page, for caller: Caller) -> ValueObject {
    var told = page.value
    if caller.isGuest, !isOwn(page, of: caller) {
      for name in ["uri", "params", "host"] { told[name] = nil }
    }
    return told
  }

  /// Whether a client runs in a page, shows it, or has opened it.
  func isOwn(_ page: Page, of caller: Caller) -> Bool {
    guard let client = caller.client else { return false }
    return page.id == client.page || page.host == client.id
      || open[page.id]?.caller.client?.id == client.id
  }

  /// Whether there is a page, or its host is being asked for it.
  func isExpected(_ id: String) -> Bool {
    open[id] != nil || openings.call(openingOf: id) != nil
  }

  /// Where other calls await the page too, the answer of this one alone, if it still awaits it. Nil
  /// where none does: then the page has to close.
  private mutating func leaveToOthers(_ page: String, _ call: CallNumber) -> [PageAction]? {
    guard let openers = open[page]?.openers, openers.contains(where: { $0 != call }) else {
      return nil
    }
    guard openers.contains(call) else { return [] }
    forget(call, openerOf: page)
    return [.settle(call, .success(.outcome(.cancelled())))]
  }
}

// What hosts do.
extension Pages {
  /// Somebody has been asked for a page; `timeout` rings when the answer does not come.
  mutating func asked(
    _ asked: PageOpening.Asked, for page: String, timeout: any ScheduledWork
  ) {
    openings.asked(asked, for: page, timeout: timeout)
  }

  /// Who was asked for a page has answered: with an error, or nil where it shows the page.
  /// `declined` when the call is to go on to the next match.
  mutating func answered(
    _ page: String, _ error: CallError?, declined: Bool = false
  ) -> [PageAction] {
    guard let opening = openings.answered(page) else { return [] }
    switch opening.answered(agreed: error == nil) {
    case .commit: return commit(opening)
    case .fail:
      if declined {
        self.declined = opening.call
        return [.goOn(opening.call)]
      }
      return error.map { fail(opening, $0) } ?? []
    case .closeAtHost:
      return [.close(opening.page, opening.presenter, reason: .cancelled, exts: [:])]
    case .nothing: return []
    }
  }

  /// The host of a page that is being opened has let its time pass. When it agrees later, it is
  /// told to close the page. What waits to be opened at the same host fails with it.
  mutating func overdue(_ page: String) -> [PageAction] {
    guard let opening = openings.overdue(page) else { return [] }
    var actions: [PageAction] = []
    if case .client = opening.presenter {
      actions.append(
        .tell(
          .host, .hostSilent(client: opening.page.host, method: "page.open"), by: opening.caller))
    }
    let error = CallError(.hostAbsent, "The host did not open the page in time")
    actions += fail(opening, error) + abandon(opening.call)
    let silence = CallError(
      .hostAbsent, "The host did not open another page in time, and has not answered since")
    var others: Deque<Operation> = []
    for operation in waiting {
      if case .open(let queued) = operation, queued.host == opening.host {
        actions += fail(queued, silence)
      } else {
        others.append(operation)
      }
    }
    waiting = others
    return actions
  }

  /// A client has answered something, by its name.
  mutating func heard(_ host: String) { openings.heard(host) }

  /// The pages of a host that is gone leave the stack.
  mutating func hostLeft(_ name: String) -> [PageAction] {
    let outcome = Outcome.failed(
      code: ErrorCode.hostAbsent.rawValue, message: "The host of the page is gone")
    let ending = try? apply(.remove(host: name, outcome: outcome))
    return ending?.actions ?? []
  }

  /// Pages of a host that it cannot show again end.
  mutating func notShown(_ pages: Set<String>, by host: String) -> [PageAction] {
    let outcome = Outcome.failed(
      code: ErrorCode.hostFailed.rawValue, message: "The host could not show the page again")
    let ending = try? apply(.remove(host: host, only: pages, outcome: outcome))
    // It has none of them to close.
    return (ending?.actions ?? []).filter { action in
      if case .close(let page, _, _, _) = action { !pages.contains(page.id) } else { true }
    }
  }

  /// The pages on the stack that a client shows, lowest first.
  func shown(by client: ClientID) -> [Open] {
    stack.allPages.compactMap { open[$0.id] }.filter {
      if case .client(client) = $0.presenter { true } else { false }
    }
  }

  /// The page that was on the stack in another life is there again.
  mutating func restore(
    _ page: Page, at presenter: HostReference, by caller: Caller, _ chosen: ChosenHost?,
    opener: String?, _ charge: ByteBudget.Charge
  ) {
    open[page.id] = Open(
      page, presenter, by: caller, chosen: chosen, opener: opener, openers: [], since: now(),
      charge)
  }

  mutating func restore(_ stack: NavigationStack) { self.stack = stack }

  /// A call waits for a page that is shown already; false where there is no such page.
  mutating func restore(_ call: CallNumber, openerOf page: String) -> Bool {
    open[page]?.openers.append(call) != nil
  }

  /// The session is over.
  mutating func end() -> [PageAction] {
    let ending = try? apply(.end(outcome: .cancelled(message: "The session ended")))
    return ending?.actions ?? []
  }

  private func fail(_ opening: PageOpening, _ error: CallError) -> [PageAction] {
    [
      .tell(
        .page, .pageFailed(opening.page, error, after: elapsed(since: opening.began)),
        by: opening.caller),
      .settle(opening.call, .failure(error)),
    ]
  }

  private mutating func commit(_ opening: PageOpening) -> [PageAction] {
    let (page, call) = (opening.page, opening.call)
    keep(
      page, opening.presenter, by: opening.caller, openers: opening.answersChange ? [] : [call],
      opening.charge, opening)
    do {
      let (change, actions) = try apply(
        opening.operation, shown: opening.answersChange ? nil : (call, page.id),
        began: opening.began)
      return actions + (opening.answersChange ? [.settle(call, .success(.change(change)))] : [])
    } catch {
      open.removeValue(forKey: page.id)
      return [
        .close(page, opening.presenter, reason: .failed, exts: [:]),
        .settle(call, .failure(CallError(error))),
      ]
    }
  }
}

// What becomes of the stack.
extension Pages {
  private mutating func keep(
    _ page: Page, _ presenter: HostReference, by caller: Caller, openers: [CallNumber],
    _ charge: ByteBudget.Charge, _ opening: PageOpening?
  ) {
    open[page.id] = Open(
      page, presenter, by: caller, chosen: opening?.chosen, opener: opening?.opener,
      openers: openers, since: now(), charge)
    journal?.note(RecordKey.page(page.id))
  }

  /// Changes the stack, and answers a call with what came of it.
  private mutating func answer(
    _ call: CallNumber, _ operation: StackOperation, exts: ValueObject = [:],
    _ answer: (StackChange) -> Answer
  ) -> [PageAction] {
    do {
      let (change, actions) = try apply(operation, exts: exts)
      return actions + [.settle(call, .success(answer(change)))]
    } catch {
      if case .open(let page) = operation { open.removeValue(forKey: page.id) }
      return [.settle(call, .failure(CallError(error)))]
    }
  }

  /// Changes the stack. Told are, in this order: the hosts of closed pages, the host of the page
  /// that is on top again, the new page's opener, those whose pages have ended, and all that
  /// listen.
  ///
  /// `exts` are those of what closes pages; `shown` is the call that waits for a page from then on;
  /// `began` is when the host of the page that opens was asked.
  private mutating func apply(
    _ operation: StackOperation, exts: ValueObject = [:],
    shown: (call: CallNumber, page: String)? = nil, began: UInt64? = nil
  ) throws(StackError) -> (change: StackChange, actions: [PageAction]) {
    let change = try stack.apply(operation)
    if let journal {
      journal.note(RecordKey.stack)
      for closed in change.closed { journal.note(RecordKey.page(closed.page.id)) }
    }
    let closed = change.closed.map { ($0.page, $0.outcome, open.removeValue(forKey: $0.page.id)) }
    let exts = operation.opens?.exts ?? exts
    var actions: [PageAction] = []
    for case (let page, let outcome, let entry?) in closed {
      actions.append(
        .close(page, entry.presenter, reason: outcome.kind, exts: exts))
    }
    if let page = change.resumed, let entry = open[page.id] {
      actions.append(.resume(page, entry.presenter))
    }
    if let shown { actions.append(.shown(shown.call, page: shown.page)) }
    for (_, outcome, entry) in closed {
      for opener in entry?.openers ?? [] {
        actions.append(.settle(opener, .success(.outcome(outcome))))
      }
    }
    for case (let page, let outcome, let entry?) in closed {
      actions.append(
        .tell(
          .page, .pageClosed(page, outcome, after: elapsed(since: entry.since)), by: entry.caller))
    }
    if let page = change.shown, let entry = open[page.id] {
      actions.append(
        .tell(.page, .pageOpened(page, after: elapsed(since: began)), by: entry.caller))
    }
    if let page = change.resumed, let entry = open[page.id] {
      actions.append(.tell(.page, .pageResumed(page), by: entry.caller))
    }
    return (change, actions)
  }

  /// The time since a moment of the loop's clock; none since no moment.
  private func elapsed(since start: UInt64?) -> Duration {
    guard let start else { return .zero }
    return .nanoseconds(Int64(clamping: now() &- start))
  }
}

extension StackOperation {
  /// The page that it opens, where it opens one.
  fileprivate var opens: Page? {
    switch self {
    case .open(let page): page
    case .select(_, let first): first
    case .back, .finish, .cancel, .remove, .end: nil
    }
  }
}
