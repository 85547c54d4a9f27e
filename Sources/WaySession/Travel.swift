import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// Takes calls where their ``Journey`` leads: asks interceptors and modules on the way, and has who
/// is there do the work.
enum CallRunner {
  /// Begins a call. Where its URI leads to a synchronous task, past interceptors that do not wait,
  /// it comes to its end here and now; all others go on a ``Journey``. Throws what ends it, unless
  /// the failure handler is asked. `isLast` says that the URI is what was looked up last.
  static func begin(
    _ entry: Entry, _ uri: String, _ isLast: Bool, _ options: SessionCallOptions,
    for address: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> Reply {
    // What is wrong depends on what the caller may know; and who traces traces all of it.
    guard !session.isTraced,
      let said = try? session.guide.look(
        up: uri, options.params, for: options.rights.caller, isLast: isLast)
    else {
      let journey = Journey(entry, uri, options)
      return try go(journey, for: .request(address), in: session)
    }
    guard case .match(let match) = said, case .task(let run)? = match.work,
      options.rights.allow(entry.method, said)
    else {
      let journey = Journey(entry, uri, options)
      return try go(journey, .said(said), for: .request(address), in: session)
    }
    let call = Call(said, options, in: session)
    let event: Journey.Event
    switch match.interceptors.map({ $0.judge(call) }) ?? .pass {
    case .pass:
      guard let reply = self.run(run, call, entry, options.rights.caller, in: session) else {
        event = .declined
        break
      }
      guard case .failed(let error) = reply else { return reply }
      let journey = Journey(entry, uri, options, at: said)
      return try Rescue.save(
        journey, from: error, isTold: true, for: .request(address), in: session) ?? reply
    case nil: event = .said(said)
    case let verdict?: event = .judged(verdict)
    }
    let journey = Journey(entry, uri, options, at: said)
    return try go(journey, event, for: .request(address), in: session)
  }

  /// Takes a call on from an event. Throws what ends it, unless the failure handler is asked.
  static func go(
    _ journey: Journey, _ event: Journey.Event = .begun, for asker: Session.Asker,
    in session: isolated Session
  ) throws(CallError) -> Reply {
    guard session.isTraced, let tracer = session.environment.tracer else {
      return try follow(journey, event, for: asker, in: session)
    }
    if case .begun = event, journey.options.span == nil {
      journey.begin(
        SessionCallSpan(tracer, journey.entry, journey.uri, journey.options.exts, journey.caller))
    }
    guard let span = journey.options.span else {
      return try follow(journey, event, for: asker, in: session)
    }
    let result = span.run {
      Result { () throws(CallError) in try follow(journey, event, for: asker, in: session) }
    }
    switch result {
    case .success(.later): break
    case .success(.now): span.end(nil)
    case .success(.failed(let error)), .failure(let error): span.end(error)
    }
    return try result.get()
  }

  private static func follow(
    _ journey: Journey, _ event: Journey.Event, for asker: Session.Asker,
    in session: isolated Session
  ) throws(CallError) -> Reply {
    do {
      let reply = try move(journey, event, for: asker, in: session)
      guard case .failed(let error) = reply else { return reply }
      return try Rescue.save(journey, from: error, isTold: true, for: asker, in: session) ?? reply
    } catch {
      guard
        let reply = try Rescue.save(journey, from: error, isTold: false, for: asker, in: session)
      else { throw error }
      return reply
    }
  }

  private static func move(
    _ journey: Journey, _ event: Journey.Event, for asker: Session.Asker,
    in session: isolated Session
  ) throws(CallError) -> Reply {
    var step = try journey.next(event, in: session.guide)
    while true {
      switch consume step {
      case .judge(let chain, let destination):
        let asked = Call(destination.resolution, journey.options, in: session)
        switch chain.judge(asked) {
        case nil: return try judge(chain, destination.resolution, journey, for: asker, in: session)
        case .pass:
          journey.pass(to: destination)
          let reply: Reply?
          if case .task(let run) = destination.kind, journey.options.carried == nil {
            // It gets the call as they have seen it.
            reply = self.run(run, asked, journey.entry, journey.caller, in: session)
          } else {
            reply = try arrive(at: destination, journey, for: asker, in: session)
          }
          if let reply { return reply }
          step = try journey.next(.declined, in: session.guide)
        case let verdict?: step = try journey.next(.judged(verdict), in: session.guide)
        }
      case .load(let module): return try load(module, journey, for: asker, in: session)
      case .answer(let value): return .value(value)
      case .arrive(let destination):
        if let reply = try arrive(at: destination, journey, for: asker, in: session) {
          return reply
        }
        step = try journey.next(.declined, in: session.guide)
      }
    }
  }

  /// Takes a call on that its page's handler, or its host, has declined.
  static func goOn(_ number: CallNumber, in session: isolated Session) {
    guard let call = session.call(number), let journey = call.journey else { return }
    if let task = call.started {
      session.happenings.tell(.task, .taskDeclined(task), by: task.caller)
    }
    call.started = nil
    goOn(call, journey, .declined, in: session)
  }

  /// Takes a call on that has waited. What it comes to is the call's end.
  static func goOn(
    _ call: CallInFlight, _ journey: Journey, _ event: Journey.Event, in session: isolated Session
  ) {
    do throws(CallError) {
      // What waited has come to its end.
      guard session.call(call.number) != nil else { return }
      call.journey = nil
      switch try go(journey, event, for: .call(call), in: session) {
      case .now(let answer): session.settle(call.number, .success(answer))
      case .failed(let error): session.settle(call.number, .failure(error))
      case .later: break
      }
    } catch {
      fail(call, journey, error, in: session)
    }
  }

  /// A call has failed, and nothing helps it any more. `isTold` where its task or page has failed,
  /// and it has not come to nothing.
  static func fail(
    _ call: CallInFlight, _ journey: Journey, _ error: CallError, isTold: Bool = false,
    in session: isolated Session
  ) {
    guard session.call(call.number) != nil else { return }
    if !isTold { session.happenings.tellNowhere(journey.place, error, by: journey.caller) }
    call.attempt = nil
    session.settle(call.number, .failure(error))
  }

  /// Makes the call of a request that does not end at once.
  static func begin(
    _ asker: Session.Asker, _ journey: Journey, in session: isolated Session
  ) throws(CallError) -> CallInFlight {
    if session.isDraining, case .request = asker { throw .draining }
    let call = try session.begin(
      asker, journey.entry, deadline: journey.options.deadline, size: journey.size)
    call.rights = journey.options.rights
    call.uri = call.uri ?? journey.uri
    call.span = journey.options.span
    return call
  }

  private static func judge(
    _ chain: InterceptorChain, _ said: Resolution, _ journey: Journey, for asker: Session.Asker,
    in session: isolated Session
  ) throws(CallError) -> Reply {
    let call = try begin(asker, journey, in: session)
    let asked = Call(said, journey.options, call.number, in: session)
    let start = session.environment.watch.isOn ? session.loop.nanoseconds : nil
    call.work = .task(
      Task {
        let verdict = await chain.judge(asked) { delay, work in
          let alarm = session.loop.schedule(after: delay, work)
          return { alarm.cancel() }
        }
        if let start {
          session.happenings.witness.judged(call, by: chain.names, verdict, since: start)
        }
        goOn(call, journey, .judged(verdict), in: session)
      })
    return .later
  }

  private static func load(
    _ module: LazyModule, _ journey: Journey, for asker: Session.Asker,
    in session: isolated Session
  ) throws(CallError) -> Reply {
    let call = try begin(asker, journey, in: session)
    let router = session.guide.router
    call.work = .task(
      Task {
        do {
          try await module.load(into: router)
          goOn(call, journey, .loaded, in: session)
        } catch {
          let failure = CallError(
            .internal, "The module \(module.name.quoted) could not register: \(error)")
          goOn(call, journey, .failed(failure), in: session)
        }
      })
    return .later
  }
}

// Where a call arrives.
extension CallRunner {
  /// Has the work done; nil where who is there leaves the call to the next.
  private static func arrive(
    at destination: Destination, _ journey: Journey, for asker: Session.Asker,
    in session: isolated Session
  ) throws(CallError) -> Reply? {
    if let carried = journey.options.carried { try destination.check(carried) }
    switch destination.kind {
    case .task(let run):
      let call = Call(destination.resolution, journey.options, in: session)
      return self.run(run, call, journey.entry, journey.caller, in: session)
    case .page(let handler):
      return try open(destination, .swift(handler), nil, journey, for: asker, in: session)
    case .hosted(let host, _) where host.kind == .page:
      return try open(destination, .client(host.client), host, journey, for: asker, in: session)
    case .module(let module): return try load(module, journey, for: asker, in: session)
    case .asyncTask(let run):
      let call = try begin(asker, journey, in: session)
      if session.environment.watch.isOn {
        call.noted(destination.route?.name, host: "server")
      }
      self.run(run, destination, journey, call, in: session)
      call.hasBegun()
    case .hosted(let chosen, let params):
      guard let host = session.host(chosen) else {
        throw CallError(.hostAbsent, "The host of \(destination.uri.text.quoted) is gone")
      }
      let call = try begin(asker, journey, in: session)
      call.started = session.happenings.tellStart(
        of: destination.uri, destination.route, by: journey.caller
      ) {
        session.makeCallNumber()
      }
      call.journey = journey
      if session.environment.watch.isOn {
        call.noted(destination.route?.name, host: host.name)
      }
      let task: Value = [
        "uri": .string(destination.uri.text), "params": .object(params),
        "exts": .object(exts(of: journey, in: session)), "host": chosen.value,
        "caller": journey.options.rights.told,
      ]
      session.forward("task.run", task, to: host, call)
      call.hasBegun()
    case .undefined(let handler):
      let call = try begin(asker, journey, in: session)
      Rescue.ask(handler, destination, journey, call, in: session)
      call.hasBegun()
    case .back:
      let back = try BackRequest(texts: destination.params)
      let call = try begin(asker, journey, in: session)
      call.attempt = FailedOperation(destination.resolution, by: journey.caller, in: session)
      session.change(
        back.operation(by: session.guide, for: journey.caller), journey.options.exts,
        by: journey.caller, for: call)
    case .selectTab:
      let tab = try session.guide.tab(
        try TabReference(texts: destination.params), for: journey.caller)
      let attempt = FailedOperation(destination.resolution, by: journey.caller, in: session)
      return try select(
        tab, attempt, journey.entry, journey.options.rights, journey.options.span, for: asker,
        in: session)
    }
    return .later
  }

  /// What a host is told beside the parameters.
  private static func exts(
    of journey: Journey, _ presentation: Presentation? = nil, in session: isolated Session
  ) -> ValueObject {
    let exts = presentation?.filling(journey.options.exts) ?? journey.options.exts
    guard session.isTraced, let span = journey.options.span,
      let tracer = session.environment.tracer
    else {
      return exts
    }
    return span.adding(to: exts, tracer)
  }

  /// Selects a tab, in its turn, and answers the call with the change. The host of the tab's first
  /// page is asked for it where the tab has none.
  static func select(
    _ tab: Int, _ attempt: FailedOperation?, _ entry: Entry, _ rights: Rights,
    _ span: SessionCallSpan? = nil,
    for asker: Session.Asker, in session: isolated Session
  ) throws(CallError) -> Reply {
    if session.pages.stack.hasPages(tab: tab) {
      let call = try session.begin(asker, entry, size: 0)
      call.attempt = attempt
      call.span = span
      session.change(.select(tab: tab, first: nil), by: rights.caller, for: call)
      return .later
    }
    let uri = session.guide.snapshot.tabs[tab].text
    guard try session.guide.destination(of: uri, [:]).routeKind == .page else {
      throw CallError(.wrongKind, "\(uri.quoted), the first page of tab \(tab), is no page")
    }
    let options = SessionCallOptions(
      rights: rights, method: .selectTab, span: span, style: .tab, tab: tab, answersChange: true)
    let journey = Journey(entry, uri, options)
    return try go(journey, for: asker, in: session)
  }

  /// Runs a synchronous task to its result: no Swift task is made, and the thread is not left.
  private static func run(
    _ run: @Sendable (Call) throws -> Value, _ call: Call, _ entry: Entry, _ caller: Caller,
    in session: isolated Session
  ) -> Reply? {
    let task = session.happenings.tellStart(of: call.uri, call.route, by: caller) {
      session.makeCallNumber()
    }
    do {
      let value = try run(call)
      if let task { session.happenings.tellEnd(of: task, nil) }
      return .now(entry.answer(.value(value)))
    } catch is Declined {
      if let task { session.happenings.tell(.task, .taskDeclined(task), by: task.caller) }
      return nil
    } catch {
      let error = session.happenings.thrown(error)
      if let task { session.happenings.tellEnd(of: task, error) }
      return .failed(error)
    }
  }

  private static func run(
    _ run: @escaping @Sendable (Call) async throws -> Value, _ destination: Destination,
    _ journey: Journey, _ call: CallInFlight, in session: isolated Session
  ) {
    call.started = session.happenings.tellStart(
      of: destination.uri, destination.route, by: journey.caller
    ) {
      session.makeCallNumber()
    }
    call.journey = journey
    let asked = Call(destination.resolution, journey.options, call.number, in: session)
    call.work = .task(
      Task {
        do {
          let value = try await run(asked)
          session.settle(call.number, .success(.value(value)))
        } catch is Declined {
          goOn(call.number, in: session)
        } catch {
          session.settle(call.number, .failure(session.happenings.thrown(error)))
        }
      })
  }

  /// Opens a page, in its turn.
  private static func open(
    _ destination: Destination, _ presenter: HostReference, _ chosen: ChosenHost?,
    _ journey: Journey, for asker: Session.Asker, in session: isolated Session
  ) throws(CallError) -> Reply {
    var options = journey.options
    let uri = destination.uri.text
    guard journey.entry == .open || options.answersChange else {
      throw CallError(
        .wrongKind, "\(uri.quoted) is a page: use router.open, not router.invoke")
    }
    guard !options.isInBatch else {
      throw CallError(
        .wrongKind, "A page cannot be opened in a batch: its answer would hold up the others")
    }
    let presentation = destination.route?.presentation
    let style = options.style ?? presentation?.style ?? .push
    if style == .tab, options.tab == nil {
      let first = destination.route
        .map { PageReference.route(name: $0.name, pathParams: destination.pathParams) }
      options.tab = try session.guide.tab(of: first ?? .uri(uri), uri, for: journey.caller)
    }
    let call = try begin(asker, journey, in: session)
    let host: String
    var handed: Call?
    switch presenter {
    case .client(let id): host = session.members[id]?.name ?? ""
    case .swift: host = "server"
    }
    let page = Page(
      id: session.pages.makePageID(), uri: uri, route: destination.route?.name,
      pathParams: destination.pathParams, style: style, params: destination.params,
      exts: exts(of: journey, presentation, in: session), host: host)
    let charge: ByteBudget.Charge
    do { charge = try session.pages.charge(page) } catch {
      session.settle(call.number, .failure(error))
      return .later
    }
    if case .swift = presenter {
      options.from = page.id
      handed = Call(destination.resolution, options, in: session)
    }
    call.journey = journey
    // The page's own failure is told.
    call.attempt = nil
    call.work = .operation
    if session.environment.watch.isOn {
      call.noted(destination.route?.name, host: host, page: page.id)
    }
    session.pages.open(
      PageOpening(
        page: page, presenter: presenter, call: call.number, by: options.rights, charge: charge,
        handed: handed, chosen: chosen, opener: journey.options.from, tab: options.tab,
        answersChange: options.answersChange))
    session.act([])
    return .later
  }
}
