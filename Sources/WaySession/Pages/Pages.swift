import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The pages of a session: the stack, the host and the openers of each page, and the queued
/// operations.
///
/// Operations run one after another: while a host is asked for a page, the others wait. The calls
/// in flight limit the queue, because a call that ends removes its operation.
///
/// Pure: each method returns the actions to perform, after which ``advance()`` returns the next
/// ones.
struct Pages {
  private(set) var stack = NavigationStack()
  private var openPages: [String: StackEntry] = [:]
  private var queue = PageOperationQueue()
  private var pendingOpenings = PendingOpenings()
  private var edits = StackEdits()
  /// The call whose host has just declined its page. Its next opening keeps its turn, and the pages
  /// that the guards allow to close.
  private var declined: (call: CallNumber, approvedPages: Set<String>?)?
  /// The pages that have a guard.
  private var guardedPages: Set<String> = []
  private var leaveQuestions = LeaveQuestions()
  /// While set, no operation is started.
  var isSuspended = false
  private let budget: ByteBudget
  private let now: () -> UInt64
  /// Whether the visibility of pages has observers.
  private let observesVisibility: () -> Bool
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
    self.observesVisibility = observesVisibility
  }

  /// The number of pages on the stack.
  var count: Int { openPages.count }

  /// Returns a page on the stack.
  subscript(id: String) -> StackEntry? { openPages[id] }

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

  /// Charges the memory of the page that gets new data by a change. Fails as ``charge(_:)``, and if
  /// the data nests deeper than that of a page that opens may. Returns `nil` if no page gets any.
  private func chargeDelivery(_ change: StackChange) throws(CallError) -> ByteBudget.Charge? {
    guard let delivery = change.delivered, let page = change.existing else { return nil }
    guard !Value.object(delivery.value).nests(deeperThan: JSON.maxDepth - 2) else {
      throw CallError(.tooLarge, "The parameters nest too deep to be sent to the host")
    }
    return try charge(page)
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
    if let actions = detach(page, call) { return actions }
    queue.append(.cancel(page: page, call: call))
    return []
  }

  /// Removes a call that no longer waits for its page, which stays.
  mutating func removeOpener(_ call: CallNumber, of page: String) {
    openPages[page]?.openers.removeAll { $0 == call }
  }

  /// Abandons a call whose operation is queued, or whose host is being asked.
  mutating func abandon(_ call: CallNumber) -> [SessionPageAction] {
    queue.remove(call)
    if let edit = edits.remove(call) { return end(edit) }
    let request = leaveQuestions.abandon(call) ?? pendingOpenings.abandon(call)
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
      if let actions = detach(page, call) { return actions }
      let ending = try? apply(.cancel(page: page, outcome: .cancelled()))
      return ending?.actions ?? []
    }
  }

  private mutating func begin(_ request: StackRequest) -> [SessionPageAction] {
    let call = request.call
    let charge: ByteBudget.Charge?
    do throws(CallError) {
      if !request.exts.isEmpty { _ = try isForced(request.exts) }
      let change = try check(request.operation)
      if let error = denial(
        of: request.operation, change, by: request.caller, closing: request.closing)
      {
        throw error
      }
      // The guards are asked before a second attempt.
      if request.approvedPages == nil, let finished = change.finished {
        try request.checkingResult(finished.page, finished.outcome.data)
      }
      if mayNeedGuards(request.approvedPages),
        let actions = try askGuards(before: .change(request), change)
      {
        return actions
      }
      charge = try chargeDelivery(change)
    } catch {
      return [.settle(call, .failure(error))]
    }
    return applyAndRespond(call, request.operation, exts: request.exts, charge) {
      .stackChange($0)
    }
  }

  /// Returns what an operation would change. Fails with the error of a call.
  private func check(_ operation: StackOperation) throws(CallError) -> StackChange {
    do { return try stack.check(operation) } catch { throw CallError(error) }
  }

  private mutating func begin(_ opening: PageOpening) -> [SessionPageAction] {
    guard opening.phase == .queued else { return [] }
    let change: StackChange
    do throws(CallError) {
      if !opening.page.exts.isEmpty { _ = try isForced(opening.page.exts) }
      change = try check(opening.operation)
      let denialError = denial(
        of: opening.operation, change, by: opening.caller, closing: opening.closing)
      if let denialError { throw denialError }
      if mayNeedGuards(opening.approvedPages),
        let actions = try askGuards(before: .open(opening), change)
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
    do { charge = try chargeDelivery(change) } catch {
      return [.settle(opening.call, .failure(error))]
    }
    if opening.respondsWithChange {
      return applyAndRespond(opening.call, opening.operation, charge) { .stackChange($0) }
    }
    openPages[existing.id]?.openers.append(opening.call)
    let found = try? apply(opening.operation, shown: (opening.call, existing.id), charge: charge)
    return found?.actions ?? []
  }

  /// Returns the reason why a caller may not perform an operation with a change as its result; `nil`
  /// if it may. A guest may not close or change others' pages, or select another tab. `closing`
  /// returns why any caller may not close a page of others.
  private func denial(
    of operation: StackOperation, _ change: StackChange, by caller: Caller,
    closing: (Page, _ byForce: Bool) -> CallError?
  ) -> CallError? {
    if caller.isGuest, case .select = operation {
      return .notInvited("A guest may not select a tab")
    }
    // The page on top closes alone.
    if case .finish(let page, _) = operation, let top = stack.top, top.id.isSameUTF8(as: page),
      isOwn(top, of: caller)
    {
      return nil
    }
    let isGuest = caller.isGuest
    if isGuest, change.selectsTab { return .notInvited("A guest may not select a tab") }
    for removed in change.closed where !isOwn(removed.page, of: caller) {
      if isGuest {
        return .notInvited("A guest may close only its own page and pages that it opened")
      }
      if let error = closing(removed.page, false) { return error }
    }
    guard isGuest else { return nil }
    if change.delivered != nil, let page = change.existing, !isOwn(page, of: caller) {
      return .notInvited(
        "A guest may pass parameters only to its own page and to pages that it opened")
    }
    return nil
  }

  /// Returns the stack in the form for a caller; `tabs` are the URIs of the tabs. `isHidden` is asked
  /// about pages of others.
  func value(tabs: [String], for caller: Caller, isHidden: (Page) -> Bool) -> Value {
    stack.value(tabs: tabs) { value(of: $0, for: caller, isHidden: isHidden) }
  }

  /// Returns a page in the form for a caller, who learns only that a hidden page exists.
  private func value(
    of page: Page, for caller: Caller, isHidden: (Page) -> Bool
  ) -> ValueObject {
    var fields = page.value
    if !isOwn(page, of: caller), caller.isGuest || isHidden(page) {
      for name in ["uri", "params", "host"] { fields[name] = nil }
    }
    return fields
  }

  /// Whether a client runs in a page, shows it, or has opened it.
  func isOwn(_ page: Page, of caller: Caller) -> Bool {
    guard let client = caller.client else { return false }
    return page.id == client.page || page.host == client.id
      || openPages[page.id]?.caller.client?.id == client.id
  }

  /// Whether a page exists, or its host is being asked for it.
  func isExpected(_ id: String) -> Bool {
    openPages[id] != nil || pendingOpenings.call(openingOf: id) != nil || edits.contains(id)
  }

  /// Completes only this call, if it still awaits a page that other calls await too. Returns `nil`
  /// if no other call awaits the page, which then has to close.
  private mutating func detach(_ page: String, _ call: CallNumber) -> [SessionPageAction]? {
    guard let openers = openPages[page]?.openers, openers.contains(where: { $0 != call }) else {
      return nil
    }
    guard openers.contains(call) else { return [] }
    removeOpener(call, of: page)
    return [.settle(call, .success(.outcome(.cancelled())))]
  }
}

// Guards of pages, and results that pages set before they close.
extension Pages {
  /// Whether guards have to be asked before an operation, or have been asked.
  private func mayNeedGuards(_ approvedPages: Set<String>?) -> Bool {
    approvedPages != nil || !guardedPages.isEmpty
  }

  /// Asks the guards of the pages that an operation would close. Returns `nil` if it may be performed
  /// now. Fails if the caller may not close a guarded page by force, or if the stack has changed since
  /// the guards were asked.
  private mutating func askGuards(
    before operation: PageOperation, _ change: StackChange
  ) throws(CallError) -> [SessionPageAction]? {
    if let approved = operation.approvedPages {
      guard approved == Set(change.closed.map(\.page.id)) else { throw .stackChanged }
      return nil
    }
    guard let request = operation.closingRequest else { return nil }
    let guarded = guardedPages(closedBy: change, request.operation)
    guard !guarded.isEmpty else { return nil }
    if try isForced(request.exts) {
      for page in guarded.map(\.page) where !isOwn(page, of: request.caller) {
        if let error = request.closing(page, true) { throw error }
      }
      return nil
    }
    var questions: [LeaveQuestion] = []
    for removed in guarded {
      for pageGuard in openPages[removed.page.id]?.allGuards ?? [] {
        questions.append(
          LeaveQuestion(
            number: leaveQuestions.makeNumber(), page: removed.page, owner: pageGuard.owner,
            timeout: pageGuard.timeout, reason: removed.outcome.kind, destination: change.top,
            caller: request.caller))
      }
    }
    queue.hold(operation)
    let step = leaveQuestions.begin(
      request.call, closing: Set(change.closed.map(\.page.id)), asking: questions, at: now())
    var position = 0
    return proceed(request.call, step, at: &position)
  }

  /// Returns the guarded pages that a change closes, topmost first. A page that finishes has decided
  /// itself.
  private func guardedPages(
    closedBy change: StackChange, _ operation: StackOperation
  ) -> [StackChange.RemovedPage] {
    change.closed.filter { removed in
      if case .finish(removed.page.id, _) = operation { return false }
      return guardedPages.contains(removed.page.id)
    }
  }

  /// Whether an operation whose hosts have responded would close a guarded page that was not asked.
  private func closesUnapprovedPages(
    _ change: StackChange, by request: StackRequest, approved: Set<String>?
  ) -> Bool {
    guard !guardedPages.isEmpty, (try? isForced(request.exts)) != true else { return false }
    return !guardedPages(closedBy: change, request.operation).allSatisfy {
      approved?.contains($0.page.id) == true
    }
  }

  private func isForced(_ exts: ValueObject) throws(CallError) -> Bool {
    switch exts["force"] {
    case nil: return false
    case .bool(let isForced)?: return isForced
    case _?: throw CallError(.invalidExts(name: "force", reason: "has to be true or false"))
    }
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
    leaveQuestions.recordRequest(request, for: number)
  }

  /// Handles the response of the owner of a guard, or that there is none.
  mutating func handleVerdict(
    _ verdict: LeaveQuestions.LeaveVerdict, on number: Int
  ) -> [SessionPageAction] {
    var position = 0
    return leaveQuestions.answer(number, verdict, at: now()).flatMap {
      proceed($0.call, $0.step, at: &position)
    }
  }

  /// Sets the guard of a client for a page, or removes it. Fails with 2404 if the page is not on the
  /// stack.
  mutating func setGuard(
    of client: ClientID, for page: String, timeout: Duration?
  ) throws(CallError) {
    let entry = try entry(page)
    entry.guards.removeAll { $0.isOwned(by: client) }
    if let timeout { entry.guards.append(PageGuard(owner: .client(client), timeout: timeout)) }
    guardsChanged(of: entry)
  }

  /// Removes the guards of a client that is gone, or has lost its state.
  mutating func removeGuards(of client: ClientID) {
    for page in guardedPages {
      guard let entry = openPages[page], entry.guards.contains(where: { $0.isOwned(by: client) })
      else { continue }
      entry.guards.removeAll { $0.isOwned(by: client) }
      guardsChanged(of: entry)
    }
  }

  private mutating func guardsChanged(of entry: StackEntry) {
    if entry.hasGuard {
      guardedPages.insert(entry.page.id)
    } else {
      guardedPages.remove(entry.page.id)
    }
    journal?.recordChange(.page(entry.page.id))
  }

  /// Sets the result of a page if it closes without another one; `nil` removes it. Fails with 2404 if
  /// the page is not on the stack, and as ``charge(_:)``.
  mutating func setResult(_ result: PageResult?, of page: String) throws(CallError) {
    let entry = try entry(page)
    let bytes = result?.size ?? 0
    let charge: ByteBudget.Charge?
    do {
      charge = try result.map { _ throws(ByteBudget.Exhausted) in try budget.charge(bytes) }
    } catch {
      throw CallError(error, for: bytes)
    }
    entry.setResult(result, charge)
    journal?.recordChange(.page(page))
  }

  /// Returns a page on the stack. Fails with 2404 if it is not there.
  private func entry(_ page: String) throws(CallError) -> StackEntry {
    guard let entry = openPages[page] else { throw CallError(.notOnStack(.page(page))) }
    return entry
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

  /// Returns the pages on the stack that a client shows, lowest first.
  func entries(of client: ClientID) -> [StackEntry] {
    stack.allPages.compactMap { openPages[$0.id] }.filter {
      if case .client(client) = $0.hostReference { true } else { false }
    }
  }

  /// Restores a page that was on the stack before a restart.
  mutating func restore(
    _ page: Page, at hostReference: HostReference, by caller: Caller, _ chosen: ChosenHost?,
    opener: String?, result: PageResult?, guards: [PageGuard], _ charge: ByteBudget.Charge
  ) {
    let entry = StackEntry(
      page, hostReference, by: caller, chosenHost: chosen, opener: opener, openers: [],
      openedAt: now(), charge)
    // The limits were checked when the result was set.
    entry.setResult(result, result.flatMap { try? budget.charge($0.size) })
    entry.guards = guards
    openPages[page.id] = entry
    if entry.hasGuard { guardedPages.insert(page.id) }
  }

  mutating func restore(_ stack: NavigationStack) { self.stack = stack }

  /// Restores a call that waits for a shown page. Returns false if there is no such page.
  mutating func restore(_ call: CallNumber, openerOf page: String) -> Bool {
    openPages[page]?.openers.append(call) != nil
  }

  /// Ends all pages with the session.
  mutating func end() -> [SessionPageAction] {
    let ending = try? apply(.end(outcome: .cancelled(message: "The session ended")))
    return ending?.actions ?? []
  }

  private mutating func fail(_ opening: PageOpening, _ error: CallError) -> [SessionPageAction] {
    let failed = SessionPageAction.emit(
      .page, .pageFailed(opening.page, error, after: elapsed(since: opening.requestedAt)),
      by: opening.caller)
    if let edit = opening.edit { return [failed] + failEdit(edit, error) }
    return [failed, .settle(opening.call, .failure(error))]
  }

  private mutating func commit(_ opening: PageOpening) -> [SessionPageAction] {
    let (page, call) = (opening.page, opening.call)
    // While a silent or absent host was asked, other operations may have changed the stack.
    if opening.mayFindPage || !guardedPages.isEmpty,
      let change = try? stack.check(opening.operation)
    {
      let close = SessionPageAction.close(
        page, opening.hostReference, reason: .cancelled, exts: [:])
      if closesUnapprovedPages(
        change, by: opening.closingRequest, approved: opening.approvedPages)
      {
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
      openPages.removeValue(forKey: page.id)
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
      _ = try isForced(edit.exts)
      let operation = edit.operation
      let change = try check(operation)
      if let error = denial(of: operation, change, by: edit.caller, closing: edit.closing) {
        throw error
      }
      if mayNeedGuards(edit.approvedPages),
        let actions = try askGuards(before: .edit(edit), change)
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
      let change = try check(request.operation)
      guard edit.isAsPlanned(change),
        !closesUnapprovedPages(change, by: request, approved: edit.approvedPages)
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
    if let request = leaveQuestions.abandon(edit.call) { actions.append(.cancelRequest(request)) }
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
  private mutating func insert(
    _ page: Page, _ hostReference: HostReference, by caller: Caller, openers: [CallNumber],
    _ charge: ByteBudget.Charge, _ opening: PageOpening?
  ) {
    let entry = StackEntry(
      page, hostReference, by: caller, chosenHost: opening?.chosenHost, opener: opening?.opener,
      openers: openers, openedAt: now(), charge)
    openPages[page.id] = entry
    if entry.hasGuard { guardedPages.insert(page.id) }
    journal?.recordChange(.page(page.id))
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
      if case .open(let page, _, _, _) = operation { openPages.removeValue(forKey: page.id) }
      return [.settle(call, .failure(CallError(error)))]
    }
  }

  /// Changes the stack. The actions notify, in order: hosts of closed pages, the host of the page
  /// that gets new data, the host of the page on top, the new page's opener, openers of closed
  /// pages, all observers.
  ///
  /// `exts` are those of the operation that closes pages. `shown` is the call that waits for a page
  /// from then on. `began` is when the host of the page that opens was asked. `charge` is the memory
  /// charge of the page that gets new data.
  private mutating func apply(
    _ operation: StackOperation, exts: ValueObject = [:],
    shown: (call: CallNumber, page: String)? = nil, began: UInt64? = nil,
    charge: ByteBudget.Charge? = nil
  ) throws(StackError) -> (change: StackChange, actions: [SessionPageAction]) {
    let earlier = observesVisibility() ? stack.visibilities : nil
    let change = try stack.apply(operation)
    if let journal {
      journal.recordChange(.stack)
      for closed in change.closed { journal.recordChange(.page(closed.page.id)) }
    }
    let closed = change.closed.map { removed in
      let entry = openPages.removeValue(forKey: removed.page.id)
      guard let entry, entry.earlyResult != nil else {
        return (removed.page, removed.outcome, entry)
      }
      return (removed.page, entry.outcome(closing: removed.outcome), entry)
    }
    if !guardedPages.isEmpty { guardedPages.subtract(closed.map(\.0.id)) }
    let exts = operation.openedPage?.exts ?? exts
    var actions: [SessionPageAction] = []
    // Enough for a page that opens or closes.
    actions.reserveCapacity(6)
    for case (let page, let outcome, let entry?) in closed {
      actions.append(
        .close(page, entry.hostReference, reason: outcome.kind, exts: exts))
    }
    // The page on top is resumed, because hosts may have shown new pages over it.
    var resumed = change.coveringPage == nil ? change.resumed : change.top
    if let delivery = change.delivered, let page = change.existing, let entry = openPages[page.id] {
      entry.page = page
      if let charge { entry.charge = charge }
      journal?.recordChange(.page(page.id))
      actions.append(.resume(page, entry.hostReference, delivery))
      // Hosts show the page that is resumed last, which has to be the one on top.
      resumed = page.id == change.top?.id ? nil : change.top
    }
    if let page = resumed, let entry = openPages[page.id] {
      actions.append(.resume(page, entry.hostReference, nil))
    }
    if let shown { actions.append(.shown(shown.call, page: shown.page)) }
    for (_, outcome, entry) in closed {
      for opener in entry?.openers ?? [] {
        actions.append(.settle(opener, .success(.outcome(outcome))))
      }
    }
    for case (let page, let outcome, let entry?) in closed {
      actions.append(
        .emit(
          .page, .pageClosed(page, outcome, after: elapsed(since: entry.openedAt)), by: entry.caller
        ))
    }
    if let page = change.shown, let entry = openPages[page.id] {
      entry.page = page
      actions.append(
        .emit(.page, .pageOpened(page, after: elapsed(since: began)), by: entry.caller))
    }
    for page in change.opened {
      guard let entry = openPages[page.id] else { continue }
      entry.page = page
      actions.append(
        .emit(.page, .pageOpened(page, after: elapsed(since: began)), by: entry.caller))
    }
    if let page = change.resumed, let entry = openPages[page.id] {
      actions.append(.emit(.page, .pageResumed(page), by: entry.caller))
    }
    if let earlier { actions += visibilityEvents(since: earlier) }
    return (change, actions)
  }

  /// Returns the events of the pages whose visibility has changed.
  private func visibilityEvents(since earlier: [PageVisibility.PageState]) -> [SessionPageAction] {
    let earlier = Dictionary(
      earlier.map { ($0.page.id, $0.visibility) }, uniquingKeysWith: { first, _ in first })
    return stack.visibilities.compactMap { page, visibility in
      guard earlier[page.id] != visibility, let entry = openPages[page.id] else { return nil }
      return .emit(.visibility, .pageVisibilityChanged(page, visibility), by: entry.caller)
    }
  }

  /// Returns the time since `start`, on the loop's clock; zero if `start` is `nil`.
  private func elapsed(since start: UInt64?) -> Duration {
    guard let start else { return .zero }
    return .nanoseconds(Int64(clamping: now() &- start))
  }
}

extension ByteBudget {
  /// Charges the memory of a page. Fails as ``Pages/charge(_:)``.
  fileprivate func charge(_ page: Page) throws(CallError) -> Charge {
    let bytes =
      page.uri.utf8.count + (page.otherCalledURI?.utf8.count ?? 0)
      + Value.object(page.params).size + Value.object(page.exts).size
    do { return try charge(bytes) } catch { throw CallError(error, for: bytes) }
  }
}

extension StackChange {
  /// The page that closes with a result, if there is one.
  fileprivate var finished: RemovedPage? { closed.first { $0.outcome.kind == .finished } }
}

extension StackOperation {
  /// The page that the operation opens, if it opens one.
  fileprivate var openedPage: Page? {
    switch self {
    case .open(let page, _, _, _): page
    case .select(_, let first, _): first
    case .back, .finish, .cancel, .remove, .edit, .end: nil
    }
  }
}
