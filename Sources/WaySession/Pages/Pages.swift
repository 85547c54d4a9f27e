import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The pages of a session, and the operations on them that wait.
///
/// ``ShownPages`` has the stack, and ``PageGuards`` decides whether pages may close. Operations run one after another: while a host is asked for a page, the others wait. The calls
/// in flight limit the queue, because a call that ends removes its operation.
///
/// Pure: each method returns the actions to perform, after which ``advance()`` returns the next
/// ones.
struct Pages {
  private var shown: ShownPages
  private var guards = PageGuards()
  private var queue = PageOperationQueue()
  private var pendingOpenings = PendingOpenings()
  private var edits = StackEdits()
  /// The call whose host has just declined its page. Its next opening keeps its turn, and the pages
  /// that the guards allow to close.
  private var declined: (call: CallNumber, approvedPages: Set<String>?)?
  /// While set, no operation is started.
  var isSuspended = false
  private let budget: ByteBudget
  private let now: () -> UInt64
  private let journal: SessionJournal?
  private var lastPageNumber = 0

  /// `budget` is the budget of the pages. `now` returns the loop's clock, in nanoseconds.
  /// `observesVisibility` returns whether the visibility of pages has observers.
  init(
    _ budget: ByteBudget, _ journal: SessionJournal? = nil, now: @escaping () -> UInt64,
    observesVisibility: @escaping () -> Bool = { false }
  ) {
    self.budget = budget
    self.journal = journal
    self.now = now
    shown = ShownPages(budget, journal, now: now, observesVisibility: observesVisibility)
  }

  var stack: NavigationStack { shown.stack }

  /// The number of pages on the stack.
  var count: Int { shown.count }

  /// Returns a page on the stack.
  subscript(id: String) -> StackEntry? { shown[id] }

  /// Returns the pages on the stack that a client shows, lowest first.
  func entries(of client: ClientID) -> [StackEntry] { shown.entries(of: client) }

  /// Returns the guards of a page.
  func guards(of page: String) -> [PageGuard] { guards[page] }

  /// Whether a client runs in a page, shows it, or has opened it.
  func isOwn(_ page: Page, of caller: Caller) -> Bool { shown.isOwn(page, of: caller) }

  /// Returns the stack in the form for a caller; `tabs` are the URIs of the tabs. `isHidden` is asked
  /// about pages of others.
  func value(tabs: [String], for caller: Caller, isHidden: (Page) -> Bool) -> Value {
    shown.value(tabs: tabs, for: caller, isHidden: isHidden)
  }

  /// Whether a page exists, or its host is being asked for it.
  func isExpected(_ id: String) -> Bool {
    shown[id] != nil || pendingOpenings.call(openingOf: id) != nil || edits.contains(id)
  }

  /// Returns the call that a page is being opened for.
  func call(openingOf page: String) -> CallNumber? { pendingOpenings.call(openingOf: page) }

  /// Whether the operation of a call is still in the queue, or waits for guards.
  func isQueued(_ call: CallNumber) -> Bool {
    queue.contains(call) || edits[call].map { $0.phase != .asking } == true
  }

  /// Returns an id for a new page, unique in the session.
  mutating func makePageID() -> String {
    lastPageNumber += 1
    // A page with an id from before the server's restart may still be shown.
    guard let term = journal?.term, term > 1 else { return "p\(lastPageNumber)" }
    return "p\(term)-\(lastPageNumber)"
  }

  /// Charges the memory of a page. Fails with 2413 if the session's pages use too much already, and
  /// with 2429 if the session or the server does.
  @inline(__always)
  func charge(_ page: Page) throws(CallError) -> ByteBudget.Charge { try budget.charge(page) }

  /// Sets the result of a page if it closes without another one; `nil` removes it. Fails with 2404 if
  /// the page is not on the stack, and as ``charge(_:)``.
  func setResult(_ result: PageResult?, of page: String) throws(CallError) {
    try shown.setResult(result, of: page)
  }
}

extension Pages {
  /// Opens a page in turn.
  mutating func open(_ opening: PageOpening) {
    if let edit = opening.edit { return add(opening, to: edit) }
    if let declined, opening.call == declined.call {
      opening.approvedPages = declined.approvedPages
      queue.prepend(.open(opening))
    } else {
      queue.append(.open(opening))
    }
  }

  /// Changes the stack in turn, and completes the call with the change. The closures of the request are
  /// not asked about the caller's own pages.
  mutating func change(_ request: StackRequest) { queue.append(.change(request)) }

  /// Puts a page on the stack that is already shown, in turn, and completes the call with the page.
  mutating func adopt(
    _ page: Page, at hostReference: HostReference, for call: CallNumber, by caller: Caller,
    _ charge: ByteBudget.Charge
  ) {
    queue.append(.adopt(page, hostReference, call: call, by: caller, charge))
  }

  /// Cancels an opening after its page was shown. The page closes in turn, unless another call
  /// awaits it too.
  mutating func cancel(_ page: String, for call: CallNumber) -> [SessionPageAction] {
    if let actions = shown.detach(page, call) { return actions }
    queue.append(.cancel(page: page, call: call))
    return []
  }

  /// Removes a call that no longer waits for its page, which stays.
  func removeOpener(_ call: CallNumber, of page: String) { shown.removeOpener(call, of: page) }

  /// Abandons a call whose operation is queued, or whose host is being asked.
  mutating func abandon(_ call: CallNumber) -> [SessionPageAction] {
    queue.remove(call)
    if let edit = edits.remove(call) { return end(edit) }
    let request = guards.abandon(call) ?? pendingOpenings.abandon(call)
    return request.map { [.cancelRequest($0)] } ?? []
  }

  /// Starts the next operation. Returns no actions while a host is being asked, or if nothing is
  /// queued.
  mutating func advance() -> [SessionPageAction] {
    declined = nil
    while !isSuspended, !pendingOpenings.isBlocking, let operation = queue.popFirst() {
      let actions = begin(operation)
      if !actions.isEmpty { return actions }
    }
    return []
  }

  private mutating func begin(_ operation: PageOperation) -> [SessionPageAction] {
    switch operation {
    case .open(let opening) where opening.edit != nil: return ask(opening)
    case .open(let opening): return begin(opening)
    case .edit(let edit): return begin(edit)
    case .change(let request): return begin(request)
    case .adopt(let page, let hostReference, let call, let caller, let charge):
      insert(page, hostReference, by: caller, openers: [], charge, nil)
      return applyAndRespond(call, .open(page)) { .value(.object(($0.shown ?? page).value)) }
    case .cancel(let page, let call):
      if let actions = shown.detach(page, call) { return actions }
      let ending = try? apply(.cancel(page: page, outcome: .cancelled()))
      return ending?.actions ?? []
    }
  }

  private mutating func begin(_ request: StackRequest) -> [SessionPageAction] {
    let call = request.call
    let charge: ByteBudget.Charge?
    do throws(CallError) {
      if !request.exts.isEmpty { _ = try request.exts.closesByForce }
      let change = try shown.check(request.operation)
      if let error = shown.denial(
        of: request.operation, change, by: request.caller, closing: request.closing)
      {
        throw error
      }
      // The guards are asked before a second attempt.
      if request.approvedPages == nil, let finished = change.finished {
        try request.checkingResult(finished.page, finished.outcome.data)
      }
      if mayNeedGuards(request.approvedPages),
        let actions = try askGuards(before: .change(request), request, change)
      {
        return actions
      }
      charge = try shown.chargeDelivery(change)
    } catch {
      return [.settle(call, .failure(error))]
    }
    return applyAndRespond(call, request.operation, exts: request.exts, charge) {
      .stackChange($0)
    }
  }

  private mutating func begin(_ opening: PageOpening) -> [SessionPageAction] {
    guard opening.phase == .queued else { return [] }
    let change: StackChange
    do throws(CallError) {
      if !opening.page.exts.isEmpty { _ = try opening.page.exts.closesByForce }
      change = try shown.check(opening.operation)
      let denialError = shown.denial(
        of: opening.operation, change, by: opening.caller, closing: opening.closing)
      if let denialError { throw denialError }
      if mayNeedGuards(opening.approvedPages),
        let actions = try askGuards(before: .open(opening), opening.closingRequest, change)
      {
        return actions
      }
    } catch {
      return [.settle(opening.call, .failure(error))]
    }
    guard opening.start() else { return [] }
    if let existing = change.existing { return resume(existing, by: change, for: opening) }
    opening.style = change.shown?.style ?? opening.page.style
    opening.requestedAt = now()
    pendingOpenings.begin(opening)
    return [.emit(.page, .pageRequested(opening.page), by: opening.caller), .requestOpen(opening)]
  }

  /// Uses a page that is already open for an opening that has found it.
  private mutating func resume(
    _ existing: Page, by change: StackChange, for opening: PageOpening
  ) -> [SessionPageAction] {
    let charge: ByteBudget.Charge?
    do { charge = try shown.chargeDelivery(change) } catch {
      return [.settle(opening.call, .failure(error))]
    }
    if opening.respondsWithChange {
      return applyAndRespond(opening.call, opening.operation, charge) { .stackChange($0) }
    }
    _ = shown.addOpener(opening.call, of: existing.id)
    let found = try? apply(opening.operation, shown: (opening.call, existing.id), charge: charge)
    return found?.actions ?? []
  }
}

// Guards of pages.
extension Pages {
  /// Whether guards have to be asked before an operation, or have been asked.
  private func mayNeedGuards(_ approvedPages: Set<String>?) -> Bool {
    approvedPages != nil || !guards.isEmpty
  }

  /// Asks the guards of the pages that an operation would close. Returns `nil` if it may be performed
  /// now. Fails if the caller may not close a guarded page by force, or if the stack has changed since
  /// the guards were asked.
  private mutating func askGuards(
    before operation: PageOperation, _ request: StackRequest, _ change: StackChange
  ) throws(CallError) -> [SessionPageAction]? {
    let step = try guards.ask(
      before: request, approved: operation.approvedPages, change, at: now(),
      isOwn: { [shown] in shown.isOwn($0, of: request.caller) })
    guard let step else { return nil }
    queue.hold(operation)
    var position = 0
    return proceed(request.call, step, at: &position)
  }

  /// Performs the next step of an operation that waits for guards. If it may begin, it is inserted into
  /// the queue at `position`, which grows.
  private mutating func proceed(
    _ call: CallNumber, _ step: LeaveQuestions.LeaveStep, at position: inout Int
  ) -> [SessionPageAction] {
    switch step {
    case .ask(let question): return [.askGuard(question)]
    case .wait: return []
    case .refused(let error):
      queue.remove(call)
      if isEditing(call) { return failEdit(call, error) }
      return [.settle(call, .failure(error))]
    case .approved(let pages):
      if queue.release(call, approving: pages, to: position) { position += 1 }
      return []
    }
  }

  /// Records the request to the owner of a guard.
  mutating func recordRequest(_ request: PageOpening.PageOpenRequest, forQuestion number: Int) {
    guards.recordRequest(request, forQuestion: number)
  }

  /// Handles the response of the owner of a guard, or that there is none.
  mutating func handleVerdict(
    _ verdict: LeaveQuestions.LeaveVerdict, on number: Int
  ) -> [SessionPageAction] {
    var position = 0
    return guards.answer(number, verdict, at: now()).flatMap {
      proceed($0.call, $0.step, at: &position)
    }
  }

  /// Sets the guard of a client for a page, or removes it. Fails with 2404 if the page is not on the
  /// stack.
  mutating func setGuard(
    of client: ClientID, for page: String, timeout: Duration?
  ) throws(CallError) {
    _ = try shown.entry(page)
    guards.set(timeout, of: client, for: page)
    journal?.recordChange(.page(page))
  }

  /// Removes the guards of a client that is gone, or has lost its state.
  mutating func removeGuards(of client: ClientID) {
    guard !guards.isEmpty else { return }
    for page in guards.removeAll(of: client) { journal?.recordChange(.page(page)) }
  }
}

extension Pages {
  /// Records the request to a host; `timeout` fires if the response does not arrive. It is `nil`
  /// while the host has no connection.
  mutating func recordRequest(
    _ request: PageOpening.PageOpenRequest, for page: String, timeout: (any ScheduledWork)?
  ) {
    pendingOpenings.recordRequest(request, for: page, timeout: timeout)
  }

  /// Handles the response of a host: an error, or `nil` if it shows the page. `declined` is true if
  /// the call has to advance to the next match.
  mutating func handleResponse(
    _ page: String, _ error: CallError?, declined: Bool = false
  ) -> [SessionPageAction] {
    guard let opening = pendingOpenings.complete(page) else { return [] }
    switch opening.complete(agreed: error == nil) {
    case .commit:
      return opening.edit.map { agree(opening, of: $0) } ?? commit(opening)
    case .fail:
      if declined {
        if opening.edit == nil { self.declined = (opening.call, opening.approvedPages) }
        return [.continueCall(opening.call)]
      }
      return error.map { fail(opening, $0) } ?? []
    case .closeAtHost:
      return [.close(opening.page, opening.hostReference, reason: .cancelled, exts: [:])]
    case .ignore: return []
    }
  }

  /// Handles the timeout of an opening. If the host agrees later, it is asked to close the page.
  /// Queued openings at the same host fail too.
  mutating func timeOut(_ page: String) -> [SessionPageAction] {
    guard let opening = pendingOpenings.timeOut(page) else { return [] }
    var actions: [SessionPageAction] = []
    if case .client = opening.hostReference {
      actions.append(
        .emit(
          .host, .hostTimedOut(client: opening.page.host, method: "page.open"), by: opening.caller))
    }
    let error = CallError(.hostAbsent, "The host did not open the page in time")
    actions += fail(opening, error) + abandon(opening.call)
    let unresponsive = CallError(
      .hostAbsent, "The host did not open an earlier page in time and has not answered since")
    for waiting in queue.removeOpenings(at: opening.hostName) {
      switch waiting {
      case .open(let queued): actions += fail(queued, unresponsive)
      case .edit(let edit): actions += failEdit(edit.call, unresponsive)
      case .change, .adopt, .cancel: break
      }
    }
    return actions
  }

  /// Records that a host, given by its name, has lost its connection.
  mutating func markAbsent(_ host: String) { pendingOpenings.markAbsent(host) }

  /// Records that a host is connected again. Returns its openings, whose time begins again.
  mutating func markConnected(_ host: String) -> [PageOpening] {
    pendingOpenings.markConnected(host)
  }

  /// Records that a client, given by its name, has responded to a request.
  mutating func markResponsive(_ host: String) { pendingOpenings.markResponsive(host) }

  /// Removes the pages of a host that is gone.
  mutating func hostLeft(_ name: String) -> [SessionPageAction] {
    pendingOpenings.forgetHost(name)
    let outcome = Outcome.failed(
      code: ErrorCode.hostAbsent.rawValue, message: "The host of the page is gone")
    let error = CallError(.hostAbsent, "The host of a page is gone")
    let failed = edits.losing(host: name).flatMap { failEdit($0.call, error) }
    let ending = try? apply(.remove(host: name, outcome: outcome))
    return failed + (ending?.actions ?? [])
  }

  /// Ends pages that a host cannot show again.
  mutating func removeUnrestored(_ pages: Set<String>, by host: String) -> [SessionPageAction] {
    let outcome = Outcome.failed(
      code: ErrorCode.hostFailed.rawValue, message: "The host could not show the page again")
    let ending = try? apply(.remove(host: host, only: pages, outcome: outcome))
    // The host has none of them to close.
    return (ending?.actions ?? []).filter { action in
      if case .close(let page, _, _, _) = action { !pages.contains(page.id) } else { true }
    }
  }

  /// Restores a page that was on the stack before a restart.
  mutating func restore(
    _ page: Page, at hostReference: HostReference, by caller: Caller, _ chosen: ChosenHost?,
    opener: String?, result: PageResult?, guards restored: [PageGuard], _ charge: ByteBudget.Charge
  ) {
    shown.restore(
      page, at: hostReference, by: caller, chosen, opener: opener, result: result, charge)
    guards.add(restored, for: page.id, at: hostReference)
  }

  mutating func restore(_ stack: NavigationStack) { shown.restore(stack) }

  /// Restores a call that waits for a shown page. Returns false if there is no such page.
  func restore(_ call: CallNumber, openerOf page: String) -> Bool {
    shown.addOpener(call, of: page)
  }

  /// Ends all pages with the session.
  mutating func end() -> [SessionPageAction] {
    let ending = try? apply(.end(outcome: .cancelled(message: "The session ended")))
    return ending?.actions ?? []
  }

  private mutating func fail(_ opening: PageOpening, _ error: CallError) -> [SessionPageAction] {
    let failed = SessionPageAction.emit(
      .page, .pageFailed(opening.page, error, after: shown.elapsed(since: opening.requestedAt)),
      by: opening.caller)
    if let edit = opening.edit { return [failed] + failEdit(edit, error) }
    return [failed, .settle(opening.call, .failure(error))]
  }

  private mutating func commit(_ opening: PageOpening) -> [SessionPageAction] {
    let (page, call) = (opening.page, opening.call)
    // While a silent or absent host was asked, other operations may have changed the stack.
    if opening.mayFindPage || !guards.isEmpty,
      let change = try? stack.check(opening.operation)
    {
      let close = SessionPageAction.close(
        page, opening.hostReference, reason: .cancelled, exts: [:])
      if guards.isUnapproved(change, by: opening.closingRequest, approved: opening.approvedPages) {
        return [close, .settle(call, .failure(.stackChanged))]
      }
      if let existing = change.existing {
        return [close] + resume(existing, by: change, for: opening)
      }
    }
    insert(
      page, opening.hostReference, by: opening.caller,
      openers: opening.respondsWithChange ? [] : [call],
      opening.charge, opening)
    do {
      var (change, actions) = try apply(
        opening.operation, shown: opening.respondsWithChange ? nil : (call, page.id),
        began: opening.requestedAt)
      if opening.respondsWithChange {
        actions.append(.settle(call, .success(.stackChange(change))))
      }
      return actions
    } catch {
      removeEntry(page.id)
      return [
        .close(page, opening.hostReference, reason: .failed, exts: [:]),
        .settle(call, .failure(CallError(error))),
      ]
    }
  }
}

// Edits that open pages.
extension Pages {
  /// Begins an edit. Its pages are opened by ``open(_:)``, after which it waits for its turn.
  mutating func begin(_ edit: StackEdit) { edits.begin(edit) }

  /// Whether an edit that opens pages has not ended, given by its call.
  func isEditing(_ call: CallNumber) -> Bool { edits[call] != nil }

  /// Ends an edit with an error, and leaves the stack as it is. `part` is the call of a page that has
  /// ended already.
  mutating func failEdit(
    _ call: CallNumber, _ error: CallError, by part: CallNumber? = nil
  ) -> [SessionPageAction] {
    guard let edit = edits.remove(call) else { return [] }
    return end(edit, by: part) + [.settle(call, .failure(error))]
  }

  /// Adds a page whose URI is resolved to its edit.
  private mutating func add(_ opening: PageOpening, to call: CallNumber) {
    guard let edit = edits[call] else { return }
    if edit.add(opening) {
      queue.append(.edit(edit))
    } else if edit.phase == .asking {
      // The next host of a page whose host has declined it.
      queue.prepend(.open(opening))
    }
  }

  private mutating func begin(_ edit: StackEdit) -> [SessionPageAction] {
    do throws(CallError) {
      _ = try edit.exts.closesByForce
      let operation = edit.operation
      let change = try shown.check(operation)
      if let error = shown.denial(of: operation, change, by: edit.caller, closing: edit.closing) {
        throw error
      }
      if mayNeedGuards(edit.approvedPages),
        let actions = try askGuards(before: .edit(edit), edit.closingRequest, change)
      {
        return actions
      }
      edit.begin(change)
    } catch {
      return failEdit(edit.call, error)
    }
    return proceed(edit)
  }

  /// Asks the host of the next page, or changes the stack if all have agreed.
  private mutating func proceed(_ edit: StackEdit) -> [SessionPageAction] {
    edit.next.map { ask($0) } ?? commit(edit)
  }

  private mutating func ask(_ opening: PageOpening) -> [SessionPageAction] {
    guard let edit = opening.edit.flatMap({ edits[$0] }), opening.start() else { return [] }
    edit.place(opening)
    opening.requestedAt = now()
    pendingOpenings.begin(opening)
    return [.emit(.page, .pageRequested(opening.page), by: opening.caller), .requestOpen(opening)]
  }

  /// Handles that the host of a page has agreed.
  private mutating func agree(
    _ opening: PageOpening, of call: CallNumber
  ) -> [SessionPageAction] {
    guard let edit = edits[call] else { return [] }
    edit.agree(opening)
    return proceed(edit)
  }

  private mutating func commit(_ edit: StackEdit) -> [SessionPageAction] {
    let request = edit.closingRequest
    do throws(CallError) {
      // While silent or absent hosts were asked, other operations may have changed the stack.
      let change = try shown.check(request.operation)
      guard edit.isAsPlanned(change),
        !guards.isUnapproved(change, by: request, approved: edit.approvedPages)
      else { throw .stackChanged }
    } catch {
      return failEdit(edit.call, error)
    }
    _ = edits.remove(edit.call)
    let openings = edit.orderedOpenings
    for opening in openings {
      insert(
        opening.page, opening.hostReference, by: opening.caller, openers: [], opening.charge,
        opening)
    }
    let applied = try? apply(
      request.operation, exts: edit.exts, began: openings.first?.requestedAt)
    guard let change = applied?.change, var actions = applied?.actions else { return [] }
    for part in edit.parts { actions.append(.settle(part, .success(.value(.null)))) }
    actions.append(.settle(edit.call, .success(.stackChange(change))))
    return actions
  }

  /// Whether a page belongs to an edit that has not ended.
  func isEdited(_ page: String) -> Bool { edits.contains(page) }

  /// Ends the edits of which a host, given by its name, does not show a page any more.
  mutating func failEdits(showing shown: [String], by host: String) -> [SessionPageAction] {
    let error = CallError(.hostFailed, "The host does not show the page any more")
    return edits.losing(host: host, showing: shown).flatMap { failEdit($0.call, error) }
  }

  /// Ends what an edit that is removed has begun: its hosts close the pages that they show, topmost
  /// first.
  private mutating func end(
    _ edit: StackEdit, by part: CallNumber? = nil
  ) -> [SessionPageAction] {
    queue.remove(edit.call)
    var actions: [SessionPageAction] = []
    if let request = guards.abandon(edit.call) { actions.append(.cancelRequest(request)) }
    for call in edit.parts {
      queue.remove(call)
      if let request = pendingOpenings.abandon(call) { actions.append(.cancelRequest(request)) }
    }
    for opening in edit.agreedOpenings.reversed() {
      actions.append(
        .close(opening.page, opening.hostReference, reason: .cancelled, exts: [:]))
    }
    for call in edit.parts where call != part {
      actions.append(.settle(call, .failure(.editEnded)))
    }
    return actions
  }
}

extension Pages {
  /// Adds a page that an operation is about to put on the stack. `opening` is `nil` for a page that is
  /// shown already.
  private mutating func insert(
    _ page: Page, _ hostReference: HostReference, by caller: Caller, openers: [CallNumber],
    _ charge: ByteBudget.Charge, _ opening: PageOpening?
  ) {
    shown.insert(page, hostReference, by: caller, openers: openers, charge, opening)
    guards.add(for: page.id, at: hostReference)
  }

  /// Removes a page that could not be put on the stack.
  private mutating func removeEntry(_ page: String) {
    shown.removeEntry(page)
    guards.forget(page)
  }

  /// Changes the stack, and completes a call with the result.
  private mutating func applyAndRespond(
    _ call: CallNumber, _ operation: StackOperation, exts: ValueObject = [:],
    _ charge: ByteBudget.Charge? = nil, _ makeResponse: (StackChange) -> SessionCallResponse
  ) -> [SessionPageAction] {
    do {
      var (change, actions) = try apply(operation, exts: exts, charge: charge)
      actions.append(.settle(call, .success(makeResponse(change))))
      return actions
    } catch {
      if case .open(let page, _, _, _) = operation { removeEntry(page.id) }
      return [.settle(call, .failure(CallError(error)))]
    }
  }

  /// Changes the stack as ``ShownPages/apply(_:exts:shown:began:charge:)``. The guards of closed pages
  /// are removed.
  private mutating func apply(
    _ operation: StackOperation, exts: ValueObject = [:],
    shown waiting: (call: CallNumber, page: String)? = nil, began: UInt64? = nil,
    charge: ByteBudget.Charge? = nil
  ) throws(StackError) -> (change: StackChange, actions: [SessionPageAction]) {
    let applied = try shown.apply(
      operation, exts: exts, shown: waiting, began: began, charge: charge)
    if !guards.isEmpty {
      for closed in applied.change.closed { guards.forget(closed.page.id) }
    }
    return applied
  }
}

extension StackChange {
  /// The page that closes with a result, if there is one.
  fileprivate var finished: RemovedPage? { closed.first { $0.outcome.kind == .finished } }
}
