import WayNavigation
import WayRouting
import WayValues

/// The guards of a session's pages, and the operations that wait until guards have responded.
///
/// Pure: it decides whether an operation may close pages, and returns what follows for operations that
/// have waited.
struct PageGuards {
  /// The guards of each page that has some: that of the Swift code that shows the page first, then
  /// those of clients.
  private var guards: [String: [PageGuard]] = [:]
  private var questions = LeaveQuestions()

  /// Whether no page has a guard.
  var isEmpty: Bool { guards.isEmpty }

  /// The guards of a page.
  subscript(page: String) -> [PageGuard] { guards[page] ?? [] }

  /// Adds the guard of the Swift code that shows a page, if it has one, and guards of clients.
  mutating func add(_ clients: [PageGuard] = [], for page: String, at host: HostReference) {
    var added = clients
    if case .app(let handler) = host, let mayLeave = handler.mayLeave {
      let own = PageGuard(owner: .app(mayLeave), timeout: PageGuard.defaultTimeout)
      added.insert(own, at: 0)
    }
    if !added.isEmpty { guards[page] = added }
  }

  /// Sets the guard of a client for a page; `nil` removes it.
  mutating func set(_ timeout: Duration?, of client: ClientID, for page: String) {
    remove(client, from: page)
    guard let timeout else { return }
    guards[page, default: []].append(PageGuard(owner: .client(client), timeout: timeout))
  }

  /// Removes the guards of a client. Returns their pages.
  mutating func removeAll(of client: ClientID) -> [String] {
    let pages = guards.filter { $1.contains { $0.isOwned(by: client) } }.map(\.key)
    for page in pages { remove(client, from: page) }
    return pages
  }

  private mutating func remove(_ client: ClientID, from page: String) {
    guard var rest = guards[page] else { return }
    rest.removeAll { $0.isOwned(by: client) }
    guards[page] = rest.isEmpty ? nil : rest
  }

  /// Removes the guards of a page that is closed.
  mutating func forget(_ page: String) { guards[page] = nil }

  /// Asks the guards of the pages that an operation would close by `change`. Returns what follows;
  /// `nil` if the operation may be performed now. `isOwn` returns whether a page belongs to the caller.
  /// Fails if the caller may not close a guarded page by force, or if the stack has changed since the
  /// guards were asked.
  mutating func ask(
    before request: StackRequest, approved: Set<String>?, _ change: StackChange, at now: UInt64,
    isOwn: (Page) -> Bool
  ) throws(CallError) -> LeaveQuestions.LeaveStep? {
    if let approved {
      guard approved == Set(change.closed.map(\.page.id)) else { throw .stackChanged }
      return nil
    }
    let guarded = guardedPages(closedBy: change, request.operation)
    guard !guarded.isEmpty else { return nil }
    if try request.exts.closesByForce {
      for page in guarded.map(\.page) where !isOwn(page) {
        if let error = request.closing(page, true) { throw error }
      }
      return nil
    }
    var asked: [LeaveQuestion] = []
    for removed in guarded {
      for pageGuard in self[removed.page.id] {
        asked.append(
          LeaveQuestion(
            number: questions.makeNumber(), page: removed.page, owner: pageGuard.owner,
            timeout: pageGuard.timeout, reason: removed.outcome.kind, destination: change.top,
            caller: request.caller))
      }
    }
    return questions.begin(
      request.call, closing: Set(change.closed.map(\.page.id)), asking: asked, at: now)
  }

  /// Whether an operation whose hosts have responded would close a guarded page that was not asked.
  func isUnapproved(
    _ change: StackChange, by request: StackRequest, approved: Set<String>?
  ) -> Bool {
    guard !isEmpty, (try? request.exts.closesByForce) != true else { return false }
    return !guardedPages(closedBy: change, request.operation).allSatisfy {
      approved?.contains($0.page.id) == true
    }
  }

  /// Returns the guarded pages that a change closes, topmost first. A page that finishes has decided
  /// itself.
  private func guardedPages(
    closedBy change: StackChange, _ operation: StackOperation
  ) -> [StackChange.RemovedPage] {
    change.closed.filter { removed in
      if case .finish(removed.page.id, _) = operation { return false }
      return guards[removed.page.id] != nil
    }
  }

  /// Records the request to the owner of a guard.
  mutating func recordRequest(_ request: PageOpening.PageOpenRequest, forQuestion number: Int) {
    questions.recordRequest(request, for: number)
  }

  /// Returns what follows for each operation that has waited for a question.
  mutating func answer(
    _ number: Int, _ verdict: LeaveQuestions.LeaveVerdict, at now: UInt64
  ) -> [(call: CallNumber, step: LeaveQuestions.LeaveStep)] {
    questions.answer(number, verdict, at: now)
  }

  /// Removes the operation of a call that has ended. Returns the request that is no longer needed.
  mutating func abandon(_ call: CallNumber) -> PageOpening.PageOpenRequest? {
    questions.abandon(call)
  }
}
