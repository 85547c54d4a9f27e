import WayNavigation
import WayRouting
import WayValues

// Performs the actions that ``Pages`` returns: requests and notifications to the hosts of pages.
extension Session {
  func perform(_ action: SessionPageAction) {
    switch action {
    case .requestOpen(let opening): requestPage(opening)
    case .cancelRequest(.app(let task)): task.cancel()
    case .cancelRequest(.client(let id, let host)): clientWriter.cancelRequest(id, host)
    case .close(let page, .app(let handler), let reason, let exts):
      Task { await handler.close(page, reason, exts) }
    case .close(let page, .client(let host), let reason, let exts):
      closePage(page, at: host, reason, exts)
    case .resume(let page, .client(let id), let delivery):
      notifyResumed(page, delivery, host: id)
    case .resume(let page, .app(let handler), let delivery):
      if delivery != nil, let update = handler.update { Task { await update(page) } }
      notifyResumed(page, delivery, host: nil)
    case .askGuard(let question): ask(question)
    case .shown(let number, let page): markShown(page, number)
    case .settle(let number, let result): settle(number, result)
    case .continueCall(let number): resumeDeclined(number)
    case .emit(let kind, let event, let caller):
      events.emit(kind, event, by: caller)
    }
  }

  /// Notifies the host of a page, and the clients that run in it, that it is on top again, or has new
  /// data, or both.
  private func notifyResumed(_ page: Page, _ delivery: NavigationDelivery?, host: ClientID?) {
    var params: ValueObject = ["page": .string(page.id)]
    if let delivery { params.merge(delivery.value) }
    if let client = host.flatMap({ clients[$0] }) {
      clientWriter.notify(client, "page.resume", .object(params))
    }
    for client in clients.inside(page: page.id) where client.id != host {
      clientWriter.notify(client, "page.resume", .object(params))
    }
  }

  private func requestPage(_ opening: PageOpening) {
    let page = opening.page.id
    guard let request = sendRequest(opening) else { return }
    // The time of a host without a connection begins when it is back.
    var isAbsent = false
    if case .client(_, let host) = request { isAbsent = host.isDisconnected }
    let timeout =
      isAbsent ? nil : setTimer(limits.pageOpen, .opening(page: page))
    pages.recordRequest(request, for: page, timeout: timeout)
  }

  /// Sends the request to open a page. Returns `nil` if it has failed at once.
  private func sendRequest(_ opening: PageOpening) -> PageOpening.PageOpenRequest? {
    let page = opening.page
    switch opening.hostReference {
    case .client(let id):
      guard let host = clients[id] else {
        let error = CallError(.hostAbsent, "The host of the page is gone")
        perform(pages.handleResponse(page.id, error))
        return nil
      }
      let request = request(
        host, "page.open", opening.params, for: .open(page: page.id))
      return request.map { .client($0, host) }
    case .app(let handler):
      guard let call = opening.handlerCall else { return nil }
      return .app(
        Task {
          do {
            try await handler.open(page, call)
            perform(pages.handleResponse(page.id, nil))
          } catch is Declined {
            perform(pages.handleResponse(page.id, .declined, declined: true))
          } catch {
            let thrown = events.reportThrown(error, by: opening.caller)
            perform(
              pages.handleResponse(page.id, thrown.pageError(throwing: error)))
          }
        })
    }
  }

  private func closePage(
    _ page: Page, at host: ClientID, _ reason: Outcome.OutcomeKind, _ exts: ValueObject
  ) {
    guard let host = clients[host] else { return }
    let params: ValueObject = ["page": .string(page.id), "reason": .string(reason.rawValue)]
    let time = limits.pageOpen
    if !exts.isEmpty {
      var paramsWithExts = params
      paramsWithExts["exts"] = .object(exts)
      let request = request(
        host, "page.close", .object(paramsWithExts), for: .close, timeout: time)
      guard request == nil else { return }
      // Swift code may pass values that nest too deep to be encoded. The page is closed all the
      // same.
    }
    request(host, "page.close", .object(params), for: .close, timeout: time)
  }

  /// Records that a page is shown: its outcome now ends the call.
  private func markShown(_ page: String, _ number: CallNumber) {
    guard let call = call(number) else { return }
    call.work = .page(page)
    liftLimits(of: call)
    notifyPageShown(page, by: call)
    reportProgress(["opened": ["page": .string(page)]], of: number)
  }

  /// Starts the time of the openings at a host that is connected again.
  func startOpeningTimeouts(at host: Client) {
    for opening in pages.markConnected(host.name) where opening.request != nil {
      opening.timeoutTimer?.cancel()
      opening.timeoutTimer = setTimer(limits.pageOpen, .opening(page: opening.page.id))
    }
  }

  /// Changes the stack in turn, if the policy allows it for each page that closes, and completes the
  /// call with the change.
  func changeStack(
    _ operation: StackOperation, _ exts: ValueObject = [:], by rights: Rights,
    as method: PolicyRouteMethod,
    for call: ActiveCall
  ) {
    call.work = .operation
    pages.change(
      StackRequest(operation: operation, call: call.number, caller: rights.caller, exts: exts) {
        [resolver] page, byForce in
        resolver.denial(of: byForce ? .setGuard : method, about: page, to: rights)
      } checkingResult: {
        [check = pageResultCheck(from: rights.caller.client?.id)] page, data throws(CallError) in
        try check.check(data, of: page)
      })
    perform([])
  }

  /// Asks the owner of a guard whether its page may close.
  private func ask(_ question: LeaveQuestion) {
    switch question.owner {
    case .client(let id):
      // A client without a connection has lost its page, or will come back to it.
      guard let client = clients[id], !client.isDisconnected else {
        return perform(pages.handleVerdict(.allow, on: question.number))
      }
      let request = request(
        client, "page.leave", params(of: question, for: client),
        for: .leave(question: question.number), timeout: question.timeout)
      if let request {
        pages.recordRequest(.client(request, client), forQuestion: question.number)
      }
    case .app(let mayLeave):
      let timer = setTimer(question.timeout, .leaving(question: question.number))
      let task = Task {
        let mayClose = await mayLeave(question.page, question.destination)
        timer.cancel()
        perform(
          pages.handleVerdict(mayClose ? .allow : .deny(reason: ""), on: question.number))
      }
      pages.recordRequest(.app(task), forQuestion: question.number)
    }
  }

  /// Returns the params of `page.leave`. A client learns the URI of the page to which navigation goes
  /// only if it may see that page on the stack, or goes there itself.
  private func params(of question: LeaveQuestion, for client: Client) -> Value {
    RecordCoder.value(
      of: PageLeaveParams(
        question,
        showsDestination: question.destination.map { page in
          client.name == question.caller.client?.id || !isHidden(page, from: client)
        } == true))
  }

  /// Whether a client may not see a page of others on the stack, by the rules about `method`.
  func isHidden(
    _ page: Page, from client: Client, as method: PolicyRouteMethod = .stack
  ) -> Bool {
    guard !pages.isOwn(page, of: client.rights.caller) else { return false }
    return client.rights.caller.isGuest
      || resolver.denial(of: method, about: page, to: client.rights) != nil
  }
}
