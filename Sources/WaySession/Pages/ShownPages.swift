import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The pages on the stack of a session, and the host and the openers of each.
///
/// Pure: a change of the stack returns the actions to perform.
struct ShownPages {
  private(set) var stack = NavigationStack()
  private var entries: [String: StackEntry] = [:]
  private let budget: ByteBudget
  private let now: () -> UInt64
  private let observesVisibility: () -> Bool
  private let journal: SessionJournal?

  /// The parameters are those of ``Pages``.
  init(
    _ budget: ByteBudget, _ journal: SessionJournal?, now: @escaping () -> UInt64,
    observesVisibility: @escaping () -> Bool
  ) {
    self.budget = budget
    self.journal = journal
    self.now = now
    self.observesVisibility = observesVisibility
  }

  /// The number of pages.
  var count: Int { entries.count }

  /// Returns a page.
  subscript(id: String) -> StackEntry? { entries[id] }

  /// Returns a page. Fails with 2404 if it is not there.
  func entry(_ page: String) throws(CallError) -> StackEntry {
    guard let entry = entries[page] else { throw CallError(.notOnStack(.page(page))) }
    return entry
  }

  /// Charges the memory of the page that gets new data by a change. Fails as ``Pages/charge(_:)``, and if
  /// the data nests deeper than that of a page that opens may. Returns `nil` if no page gets any.
  func chargeDelivery(_ change: StackChange) throws(CallError) -> ByteBudget.Charge? {
    guard let delivery = change.delivered, let page = change.existing else { return nil }
    guard !Value.object(delivery.value).nests(deeperThan: JSON.maxDepth - 2) else {
      throw CallError(.tooLarge, "The parameters nest too deep to be sent to the host")
    }
    return try budget.charge(page)
  }

  /// Returns what an operation would change. Fails with the error of a call.
  func check(_ operation: StackOperation) throws(CallError) -> StackChange {
    do { return try stack.check(operation) } catch { throw CallError(error) }
  }

  /// Sets the result of a page if it closes without another one; `nil` removes it. Fails with 2404 if
  /// the page is not on the stack, and as ``Pages/charge(_:)``.
  func setResult(_ result: PageResult?, of page: String) throws(CallError) {
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

  /// Returns the pages that a client shows, lowest first.
  func entries(of client: ClientID) -> [StackEntry] {
    stack.allPages.compactMap { entries[$0.id] }.filter {
      if case .client(client) = $0.hostReference { true } else { false }
    }
  }
}

// Callers.
extension ShownPages {
  /// Whether a client runs in a page, shows it, or has opened it.
  func isOwn(_ page: Page, of caller: Caller) -> Bool {
    guard let client = caller.client else { return false }
    return page.id == client.page || page.host == client.id
      || entries[page.id]?.caller.client?.id == client.id
  }

  /// Returns the reason why a caller may not perform an operation with a change as its result; `nil`
  /// if it may. A guest may not close or change others' pages, or select another tab. `closing`
  /// returns why any caller may not close a page of others.
  func denial(
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
}

// Openers.
extension ShownPages {
  /// Adds a call that gets the outcome of a page. Returns false if there is no such page.
  func addOpener(_ call: CallNumber, of page: String) -> Bool {
    entries[page]?.openers.append(call) != nil
  }

  /// Removes a call that no longer waits for its page, which stays.
  func removeOpener(_ call: CallNumber, of page: String) {
    entries[page]?.openers.removeAll { $0 == call }
  }

  /// Completes only this call, if it still awaits a page that other calls await too. Returns `nil`
  /// if no other call awaits the page, which then has to close.
  func detach(_ page: String, _ call: CallNumber) -> [SessionPageAction]? {
    guard let openers = entries[page]?.openers, openers.contains(where: { $0 != call }) else {
      return nil
    }
    guard openers.contains(call) else { return [] }
    removeOpener(call, of: page)
    return [.settle(call, .success(.outcome(.cancelled())))]
  }
}

// Changes.
extension ShownPages {
  /// Adds the entry of a page that an operation is about to put on the stack.
  mutating func insert(
    _ page: Page, _ hostReference: HostReference, by caller: Caller, openers: [CallNumber],
    _ charge: ByteBudget.Charge, _ opening: PageOpening?
  ) {
    entries[page.id] = StackEntry(
      page, hostReference, by: caller, chosenHost: opening?.chosenHost, opener: opening?.opener,
      openers: openers, openedAt: now(), charge)
    journal?.recordChange(.page(page.id))
  }

  /// Removes the entry of a page that could not be put on the stack.
  mutating func removeEntry(_ page: String) { entries.removeValue(forKey: page) }

  /// Restores a page that was on the stack before a restart.
  mutating func restore(
    _ page: Page, at hostReference: HostReference, by caller: Caller, _ chosen: ChosenHost?,
    opener: String?, result: PageResult?, _ charge: ByteBudget.Charge
  ) {
    let entry = StackEntry(
      page, hostReference, by: caller, chosenHost: chosen, opener: opener, openers: [],
      openedAt: now(), charge)
    // The limits were checked when the result was set.
    entry.setResult(result, result.flatMap { try? budget.charge($0.size) })
    entries[page.id] = entry
  }

  mutating func restore(_ stack: NavigationStack) { self.stack = stack }

  /// Changes the stack. The actions notify, in order: hosts of closed pages, the host of the page
  /// that gets new data, the host of the page on top, the new page's opener, openers of closed
  /// pages, all observers.
  ///
  /// `exts` are those of the operation that closes pages. `shown` is the call that waits for a page
  /// from then on. `began` is when the host of the page that opens was asked. `charge` is the memory
  /// charge of the page that gets new data.
  mutating func apply(
    _ operation: StackOperation, exts: ValueObject, shown: (call: CallNumber, page: String)?,
    began: UInt64?, charge: ByteBudget.Charge?
  ) throws(StackError) -> (change: StackChange, actions: [SessionPageAction]) {
    let earlier = observesVisibility() ? stack.visibilities : nil
    let change = try stack.apply(operation)
    var actions: [SessionPageAction] = []
    // Enough for a page that opens or closes.
    actions.reserveCapacity(6)
    let closed = removeEntries(of: change)
    let exts = operation.openedPage?.exts ?? exts
    for removed in closed { actions.append(removed.action(exts)) }
    resumePages(after: change, charge, &actions)
    if let shown { actions.append(.shown(shown.call, page: shown.page)) }
    for removed in closed {
      for opener in removed.entry.openers {
        actions.append(.settle(opener, .success(.outcome(removed.outcome))))
      }
    }
    for removed in closed {
      let event = removed.event(after: elapsed(since: removed.entry.openedAt))
      actions.append(.emit(.page, event, by: removed.entry.caller))
    }
    if let page = change.shown { recordOpened(page, since: began, &actions) }
    for page in change.opened { recordOpened(page, since: began, &actions) }
    if let page = change.resumed, let entry = entries[page.id] {
      actions.append(.emit(.page, .pageResumed(page), by: entry.caller))
    }
    if let earlier { actions += visibilityEvents(since: earlier) }
    return (change, actions)
  }

  /// Removes the entries of the pages that a change has closed, and returns these, topmost first.
  private mutating func removeEntries(of change: StackChange) -> [ClosedEntry] {
    journal?.recordChange(.stack)
    var closed: [ClosedEntry] = []
    for removed in change.closed {
      journal?.recordChange(.page(removed.page.id))
      guard let entry = entries.removeValue(forKey: removed.page.id) else { continue }
      let outcome =
        entry.earlyResult == nil ? removed.outcome : entry.outcome(closing: removed.outcome)
      closed.append(ClosedEntry(page: removed.page, outcome: outcome, entry: entry))
    }
    return closed
  }

  /// Adds the actions for the page that gets new data, and for the page on top.
  private func resumePages(
    after change: StackChange, _ charge: ByteBudget.Charge?, _ actions: inout [SessionPageAction]
  ) {
    // The page on top is resumed, because hosts may have shown new pages over it.
    var resumed = change.coveringPage == nil ? change.resumed : change.top
    if let delivery = change.delivered, let page = change.existing, let entry = entries[page.id] {
      entry.page = page
      if let charge { entry.charge = charge }
      journal?.recordChange(.page(page.id))
      actions.append(.resume(page, entry.hostReference, delivery))
      // Hosts show the page that is resumed last, which has to be the one on top.
      resumed = page.id == change.top?.id ? nil : change.top
    }
    if let page = resumed, let entry = entries[page.id] {
      actions.append(.resume(page, entry.hostReference, nil))
    }
  }

  /// Records the effective style and level of a page that was put on the stack.
  private func recordOpened(
    _ page: Page, since began: UInt64?, _ actions: inout [SessionPageAction]
  ) {
    guard let entry = entries[page.id] else { return }
    entry.page = page
    actions.append(
      .emit(.page, .pageOpened(page, after: elapsed(since: began)), by: entry.caller))
  }

  /// Returns the events of the pages whose visibility has changed.
  private func visibilityEvents(since earlier: [PageVisibility.PageState]) -> [SessionPageAction] {
    let earlier = Dictionary(
      earlier.map { ($0.page.id, $0.visibility) }, uniquingKeysWith: { first, _ in first })
    return stack.visibilities.compactMap { page, visibility in
      guard earlier[page.id] != visibility, let entry = entries[page.id] else { return nil }
      return .emit(.visibility, .pageVisibilityChanged(page, visibility), by: entry.caller)
    }
  }

  /// Returns the time since `start`, on the loop's clock; zero if `start` is `nil`.
  func elapsed(since start: UInt64?) -> Duration {
    guard let start else { return .zero }
    return .nanoseconds(Int64(clamping: now() &- start))
  }
}
