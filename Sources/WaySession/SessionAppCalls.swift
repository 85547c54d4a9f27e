import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Calls that Swift code makes in a session. Cancelling the Swift task cancels the call.
enum SessionAppCalls {
  /// Opens or invokes.
  static func go(
    _ entry: Entry, _ uri: String, _ options: SessionCallOptions, in session: isolated Session,
    shown: ((String) -> Void)? = nil, begun: (() -> Void)? = nil
  ) async throws -> Answer {
    try Task.checkCancellation()
    return try await wait(
      entry, in: session, deadline: options.deadline, shown: shown, begun: begun
    ) { session, call throws(CallError) in
      do throws(CallError) {
        let journey = Journey(entry, uri, options)
        return try CallRunner.go(journey, for: .call(call), in: session)
      } catch {
        session.happenings.tellNowhere(uri, error, by: options.rights.caller)
        throw error
      }
    }.get()
  }

  /// Opens a page, or runs a task, and returns when it is shown, or done: as a client would, where
  /// one is named.
  static func open(
    _ uri: String, _ given: SessionCallOptions, as client: String?, in session: isolated Session
  ) async -> Result<OpenedPage, CallError> {
    var options = given
    if let client {
      guard let client = session.members.named(client) else { return .failure(.absent(client)) }
      options.from = client.page
    }
    let asked = options
    let start = OpeningStart()
    let opening = Task {
      do {
        let answer = try await go(
          .open, uri, asked, in: session, shown: { start.resolve(.success($0)) })
        start.resolve(.success(nil))
        return try answer.asOutcome
      } catch {
        start.resolve(.failure((error as? CallError) ?? session.happenings.thrown(error)))
        throw error
      }
    }
    let page = await withTaskCancellationHandler {
      await start.value(in: session)
    } onCancel: {
      opening.cancel()
    }
    return page.map { OpenedPage(page: $0, opening: opening) }
  }

  /// Opens a page or has a task run. Returns when the page is shown, when the task has begun, which
  /// it then gives, or when it has come to neither.
  static func start(
    _ uri: String, _ options: SessionCallOptions, in session: isolated Session
  ) async -> Task<Void, Never>? {
    let start = OpeningStart()
    let call = Task {
      // Nobody waits for it: hooks are told how it went.
      _ = try? await go(
        .open, uri, options, in: session, shown: { start.resolve(.success($0)) },
        begun: { start.resolve(.success(nil)) })
      start.resolve(.success(nil))
    }
    let page = await start.value(in: session)
    return (try? page.get()) == nil ? call : nil
  }

  /// Calls a method of a page, whoever answers for it. Past `timeout` it is 2408; nil waits.
  static func call(
    page: String, _ method: String, _ params: ValueObject, _ rights: Rights, timeout: Duration?,
    in session: isolated Session
  ) async -> Result<Value, CallError> {
    await wait(
      in: session, deadline: timeout,
      attempt: FailedOperation("page.call", about: page, by: rights.caller, in: session)
    ) { session, call throws(CallError) in
      let receiver = try PageMethodTarget(of: page, for: rights, in: session)
      return try receiver.run(method, params, rights, timeout, call, in: session)
    }.map(\.value)
  }

  /// Calls a method of a client; past `timeout` it is 2504. What the client does for it, it does
  /// with `rights`.
  static func call(
    client name: String, _ method: String, _ params: ValueObject, _ rights: Rights,
    timeout: Duration, in session: isolated Session
  ) async -> Result<Value, CallError> {
    await wait(in: session) { session, call throws(CallError) in
      guard let client = session.members.named(name) else { throw .absent(name) }
      call.rights = rights
      let asked = session.ask(
        client, method, .object(params), for: .push(call.number), timeout: timeout)
      if let asked { call.work = .request(asked, client) }
      return .later
    }.map(\.value)
  }

  /// Changes the stack, in its turn, as a method does that is about a page, where it names one.
  static func change(
    _ method: String, about page: String?, _ exts: ValueObject, _ rights: Rights,
    in session: isolated Session, _ operation: (SessionDestinationResolver) -> StackOperation
  ) async throws(CallError) -> NavigationChange {
    let operation = operation(session.guide)
    return try await wait(
      in: session, attempt: FailedOperation(method, about: page, by: rights.caller, in: session)
    ) { session, call throws(CallError) in
      try rights.enter(method)
      session.change(operation, exts, by: rights.caller, for: call)
      return .later
    }.get().asChange
  }

  static func select(
    _ tab: TabReference, _ rights: Rights, in session: isolated Session
  ) async throws(CallError) -> NavigationChange {
    let attempt = FailedOperation(
      "navigation.selectTab", about: tab.uri, by: rights.caller, in: session)
    return try await wait(in: session, attempt: attempt) { session, call throws(CallError) in
      try rights.enter("navigation.selectTab")
      return try CallRunner.select(
        try session.guide.tab(tab, for: rights.caller), attempt, .invoke, rights, for: .call(call),
        in: session)
    }.get().asChange
  }

  /// Makes a call that belongs to no client: `begin` starts its work. It is answered exactly once;
  /// its error is one that a task passes on.
  private static func wait(
    _ entry: Entry = .invoke, in session: isolated Session, deadline: Duration? = nil,
    attempt: FailedOperation? = nil, shown: ((String) -> Void)? = nil, begun: (() -> Void)? = nil,
    _ begin: (isolated Session, CallInFlight) throws(CallError) -> Reply
  ) async -> Result<Answer, CallError> {
    let number = session.makeCallNumber()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let caller = SwiftCaller(
          answer: { continuation.resume(returning: $0) }, shown: shown, begun: begun)
        guard let call = session.begin(number, entry, caller, deadline: deadline) else { return }
        call.attempt = attempt
        do throws(CallError) {
          switch try begin(session, call) {
          case .now(let answer): session.settle(number, .success(answer))
          case .failed(let error): session.settle(number, .failure(error))
          case .later: break
          }
        } catch {
          session.settle(number, .failure(error))
        }
      }
    } onCancel: {
      Task { await session.stop(number, .cancelled) }
    }.mapError(\.ofCall)
  }
}

extension CallError {
  fileprivate static func absent(_ client: String) -> CallError {
    CallError(.hostAbsent, "The client \(client.quoted) is not in the session")
  }
}

extension Answer {
  /// That of an opening.
  var asOutcome: Outcome {
    get throws(CallError) {
      if case .outcome(let outcome) = self { return outcome }
      throw CallError(.internal, "The router answered without an outcome")
    }
  }

  /// That of a change of the stack.
  var asChange: NavigationChange {
    get throws(CallError) {
      if case .change(let change) = self { return change.navigation }
      throw CallError(.internal, "The stack answered without its change")
    }
  }
}

/// Waits for the page of an opening to be shown. Belongs to its session's isolation.
private final class OpeningStart {
  typealias Result = Swift.Result<String?, CallError>
  private var result: Result?
  private var waiting: CheckedContinuation<Result, Never>?

  /// The first result counts.
  func resolve(_ result: Result) {
    guard self.result == nil else { return }
    self.result = result
    waiting?.resume(returning: result)
    waiting = nil
  }

  // Not `#isolation`, which is nil in a closure that does not use the actor.
  func value(in session: isolated Session) async -> Result {
    if let result { return result }
    return await withCheckedContinuation { waiting = $0 }
  }
}
