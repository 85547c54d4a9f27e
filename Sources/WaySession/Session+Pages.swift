import WayRPC
import WayRouting
import WayValues

// Pages coming and going: hosts are asked, the stack is changed, everyone concerned is told.
extension Session {
  /// Opens a page for a call, in its turn.
  func open(
    _ destination: Destination, _ presenter: Presenter, _ entry: Entry, _ options: CallOptions,
    _ call: CallInFlight
  ) {
    let page = Page(
      id: makePageID(), uri: destination.uri.text, route: destination.route?.name,
      pathParams: destination.pathParams, style: options.style, params: destination.params,
      exts: options.exts, host: name(of: presenter), carried: options.carried)
    let charge: ByteBudget.Charge
    do {
      charge = try stackBytes.charge(page)
    } catch {
      return settle(call.number, .failure(error))
    }
    let opening = QueuedOpening(
      page: page, presenter: presenter, call: call.number, opener: options.from, charge: charge,
      tab: options.tab, answersChange: options.answersChange ? entry : nil)
    if case .swift = presenter, let match = destination.match {
      opening.declined = { call throws(RPCError) in
        try self.declined(match, entry, options, .call(call))
      }
    }
    operations.add(.open(opening))
    call.stop = { _ in self.abandon(opening) }
    runOperations()
  }

  private func name(of presenter: Presenter) -> String {
    switch presenter {
    case .client(let id): clients[id]?.name ?? ""
    case .swift: "server"
    }
  }

  /// Carries out what waits, until a host has to be asked.
  func runOperations() {
    // What an operation settles may come back here: the loop that runs already goes on with it.
    guard !operations.isHeld else { return }
    operations.isHeld = true
    defer { operations.isHeld = false }
    while let operation = operations.next() {
      switch operation {
      case .open(let opening): start(opening)
      case .change(let change, _, let completion): completion(perform(change))
      case .cancel(let page, let call):
        if !leaveToOthers(page, call) { perform(.cancel(page: page, outcome: .cancelled())) }
      }
    }
  }

  private func start(_ opening: QueuedOpening) {
    guard opening.state.start() else { return }
    do {
      let change = try stack.check(opening.operation)
      if let existing = change.existing {
        if let entry = opening.answersChange {
          return settle(
            opening.call, perform(opening.operation).map { entry.answer($0.value) })
        }
        pages[existing.id]?.openers.append(opening.call)
        perform(opening.operation) { self.shown(existing.id, opening.call) }
        return
      }
      opening.style = change.shown?.style ?? opening.page.style
    } catch {
      return settle(opening.call, .failure(RPCError(error)))
    }
    operations.began(opening)
    opening.asked = loop.nanoseconds
    tellHooks(.willOpen(opening.page))
    ask(opening)
  }

  private func ask(_ opening: QueuedOpening) {
    switch opening.presenter {
    case .client(let id):
      guard let host = clients[id] else {
        return answered(
          opening, .failure(.unanswered(RPCError(.hostAbsent, "The host of the page is gone"))))
      }
      let params: Value = ["page": openValue(opening)]
      let asked = request(
        host, "page.open", params,
        completion: { result in self.answered(opening, result) })
      if let asked {
        opening.cancelAtHost = { self.cancelRequest(asked, host) }
      }
    case .swift(let handler):
      let page = opening.page
      let task = Task {
        let result: Result<Value, RequestFailure>
        do {
          try await handler.open(page, SessionNavigator(own: self, page: page.id))
          result = .success(.null)
        } catch is Declined {
          result = .failure(.answered(.declined))
          opening.hasDeclined = true
        } catch {
          result = .failure(.answered(.thrown(error)))
        }
        answered(opening, result)
      }
      opening.cancelAtHost = { task.cancel() }
    }
    let id = opening.page.id
    opening.timeout = loop.schedule(after: settings.limits.pageOpen) { [weak self] in
      self?.assumeIsolated { $0.openingTimedOut(id) }
    }
  }

  /// The host of a page that is being opened has let its time pass. When it agrees later, it is told to close the page.
  private func openingTimedOut(_ page: String) {
    guard let opening = operations.current, opening.page.id == page else { return }
    if case .client(let id) = opening.presenter, let host = clients[id] {
      tellSilent(host, "page.open")
    }
    let error = RPCError(.hostAbsent, "The host did not open the page in time")
    tellFailed(opening, error)
    settle(opening.call, .failure(error))
    abandon(opening)
  }

  /// What `page.open` tells a host.
  private func openValue(_ opening: QueuedOpening) -> Value {
    let page = opening.page
    var members: ValueObject = [
      "id": .string(page.id), "uri": .string(page.uri),
      "route": page.route.map(Value.string) ?? .null, "params": .object(page.params),
      "exts": .object(page.exts), "style": .string(opening.style.rawValue),
    ]
    if let opener = opening.opener { members["opener"] = .string(opener) }
    return .object(members)
  }

  private func answered(_ opening: QueuedOpening, _ result: Result<Value, RequestFailure>) {
    opening.timeout?.cancel()
    operations.ended(opening)
    let error: RequestFailure?
    if case .failure(let given) = result { error = given } else { error = nil }
    switch opening.state.answered(agreed: error == nil) {
    case .commit: commit(opening)
    case .fail:
      if opening.hasDeclined, let call = calls[opening.call], let declined = opening.declined {
        do { take(try declined(call), of: call.number) } catch {
          settle(call.number, opening.page.uri, error)
        }
      } else if let error = error?.ofPage {
        tellFailed(opening, error)
        settle(opening.call, .failure(error))
      }
    case .closeAtHost: tellClosed(opening.page, opening.presenter, reason: "cancelled")
    case .nothing: break
    }
    runOperations()
  }

  private func commit(_ opening: QueuedOpening) {
    pages[opening.page.id] = OpenPage(
      page: opening.page, presenter: opening.presenter,
      openers: opening.answersChange == nil ? [opening.call] : [], since: loop.nanoseconds,
      charge: opening.charge)
    let result = perform(opening.operation, asked: opening.asked) {
      if opening.answersChange == nil { self.shown(opening.page.id, opening.call) }
    }
    switch result {
    case .success(let change):
      if let entry = opening.answersChange {
        settle(opening.call, .success(entry.answer(change.value)))
      }
    case .failure(let error):
      pages.removeValue(forKey: opening.page.id)
      tellClosed(opening.page, opening.presenter, reason: "failed")
      settle(opening.call, .failure(error))
    }
  }

  /// From now on the call is answered with the page's outcome.
  private func shown(_ page: String, _ number: CallNumber) {
    guard let call = calls[number] else { return }
    call.page = page
    call.deadline?.cancel()
    call.stop = { _ in self.cancel(page, for: number) }
    call.shown?(page)
    call.progress(["opened": ["page": .string(page)]])
  }

  /// An opener that no longer waits for its page, which stays.
  func forget(_ number: CallNumber, openerOf page: String) {
    pages[page]?.openers.removeAll { $0 == number }
  }

  /// An opener cancelled after its page was shown. The page closes in its turn, unless somebody else awaits it too.
  private func cancel(_ page: String, for number: CallNumber) {
    guard !leaveToOthers(page, number) else { return }
    operations.add(.cancel(page: page, call: number))
    runOperations()
  }

  /// Where other calls await the page too, answers this one alone. False where none does: then the page has to close.
  private func leaveToOthers(_ page: String, _ number: CallNumber) -> Bool {
    guard let entry = pages[page], entry.openers.contains(where: { $0 != number }) else {
      return false
    }
    forget(number, openerOf: page)
    settle(number, .success(Outcome.cancelled().value))
    return true
  }

  /// An opener gave up before its page was shown.
  private func abandon(_ opening: QueuedOpening) {
    guard opening.state.abandon() else { return operations.remove(opening.call) }
    opening.cancelAtHost?()
    operations.ended(opening)
    runOperations()
  }

  /// Changes the stack and tells everyone: hosts of closed pages, the host of the page that is on top again, the new
  /// page's opener, and then those whose pages have ended. `asked` is when the host of the page that opens was asked.
  @discardableResult
  func perform(
    _ operation: StackOperation, asked: UInt64? = nil, opened: () -> Void = {}
  ) -> Result<StackChange, RPCError> {
    let change: StackChange
    do {
      change = try stack.apply(operation)
    } catch {
      return .failure(RPCError(error))
    }
    let closed = change.closed.map { ($0.page, $0.outcome, pages.removeValue(forKey: $0.page.id)) }
    for (page, outcome, entry) in closed {
      if let entry { tellClosed(page, entry.presenter, reason: outcome.kind.rawValue) }
    }
    if let page = change.resumed { tellResumed(page) }
    opened()
    for (_, outcome, entry) in closed {
      for opener in entry?.openers ?? [] { settle(opener, .success(outcome.value)) }
    }
    if heard.contains(.page) { tell(change) }
    if routes.current().hasHooks { tellHooks(change, closed, asked: asked) }
    return .success(change)
  }

  /// The pages of a client that is gone leave the stack.
  func failPages(of client: Client) {
    perform(
      .remove(
        host: client.name,
        outcome: .failed(
          code: ErrorCode.hostAbsent.rawValue, message: "The host of the page is gone")
      ))
  }

  private func tellClosed(_ page: Page, _ presenter: Presenter, reason: String) {
    switch presenter {
    case .client(let id):
      guard let host = clients[id] else { return }
      request(
        host, "page.close", ["page": .string(page.id), "reason": .string(reason)],
        timeout: settings.limits.pageOpen, completion: { _ in })
    case .swift(let handler):
      Task { await handler.close(page, reason) }
    }
  }

  private func tellResumed(_ page: Page) {
    guard case .client(let id)? = pages[page.id]?.presenter, let host = clients[id] else { return }
    notify(host, "page.resume", ["page": .string(page.id)])
  }
}
