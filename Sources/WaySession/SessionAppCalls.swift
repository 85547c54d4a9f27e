import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Calls that Swift code makes in a session. Cancelling the Swift task cancels the call.
enum SessionAppCalls {
  /// Runs a call to its result. `kind` is opening or invoking.
  static func run(
    _ kind: CallKind, _ uri: String, _ options: SessionCallOptions, in session: isolated Session,
    onPageShown: ((String) -> Void)? = nil
  ) async throws -> SessionCallResponse {
    try Task.checkCancellation()
    return try await makeCall(
      kind, about: uri, by: options.rights, in: session, timeout: options.timeout,
      onPageShown: onPageShown
    ) { session, call throws(CallError) in
      do throws(CallError) {
        let callResolution = SessionCallResolution(kind, uri, options)
        return try CallRunner.advance(callResolution, for: .call(call), in: session)
      } catch {
        session.events.emitRouteFailure(uri, error, by: options.rights.caller)
        throw error
      }
    }.get()
  }

  /// Opens a page or runs a task. Returns when the page is shown or the task has ended. If `client`
  /// names a client, the call is made on behalf of that client's page.
  static func open(
    _ uri: String, _ callOptions: SessionCallOptions, as client: String?,
    in session: isolated Session
  ) async -> Result<OpenedPage, CallError> {
    var options = callOptions
    if let client {
      guard let client = session.clients.named(client) else {
        return .failure(.clientAbsent(client))
      }
      options.callingPage = client.page
    }
    let finalOptions = options
    let promise = OpeningPromise()
    let opening = Task {
      do {
        let response = try await run(
          .open, uri, finalOptions, in: session, onPageShown: { promise.resolve(.success($0)) })
        promise.resolve(.success(nil))
        return try response.asOutcome
      } catch {
        promise.resolve(
          .failure(
            (error as? CallError)
              ?? session.events.reportThrown(error, by: finalOptions.rights.caller)))
        throw error
      }
    }
    let page = await withTaskCancellationHandler {
      await promise.value(in: session)
    } onCancel: {
      opening.cancel()
    }
    return page.map { OpenedPage(page: $0, outcomeTask: opening) }
  }

  /// Calls a method of a page, at the client or the Swift handler that is responsible for it. Fails
  /// with 2408 after `timeout`; `nil` waits without a limit.
  static func call(
    page: String, _ method: String, _ params: ValueObject, _ rights: Rights, timeout: Duration?,
    in session: isolated Session
  ) async -> Result<Value, CallError> {
    await makeCall(
      about: page, by: rights, in: session, timeout: timeout,
      attemptedOperation: SessionFailedOperation(
        "page.call", about: page, by: rights.caller, in: session)
    ) { session, call throws(CallError) in
      let target = try PageMethodTarget(of: page, for: rights, in: session)
      return try target.run(method, params, rights, timeout, call, in: session)
    }.map(\.value)
  }

  /// Changes the stack in turn, and returns the change. `method` is the method to authorize; `page`
  /// is the page reference in its params, if there is one.
  static func changeStack(
    _ method: PolicyRouteMethod, about page: String?, _ exts: ValueObject, _ rights: Rights,
    in session: isolated Session, _ operation: (SessionDestinationResolver) -> StackOperation
  ) async throws(CallError) -> NavigationChange {
    let operation = operation(session.resolver)
    return try await makeCall(
      about: page, by: rights, in: session,
      attemptedOperation: SessionFailedOperation(
        method.name, about: page, by: rights.caller, in: session)
    ) { session, call throws(CallError) in
      try rights.authorize(method.name, .targetDependent)
      session.changeStack(operation, exts, by: rights, as: method, for: call)
      return .later
    }.get().asChange
  }

  static func selectTab(
    _ tab: TabReference, _ rights: Rights, in session: isolated Session
  ) async throws(CallError) -> NavigationChange {
    let attempt = SessionFailedOperation(
      "navigation.selectTab", about: tab.uri, by: rights.caller, in: session)
    return try await makeCall(
      about: tab.uri, by: rights, in: session, attemptedOperation: attempt
    ) { session, call throws(CallError) in
      try rights.authorize("navigation.selectTab")
      return try CallRunner.selectTab(
        try session.resolver.tabIndex(tab, on: session.pages.stack, for: rights.caller), attempt,
        .invoke, rights, for: .call(call), in: session)
    }.get().asChange
  }

  /// Makes a call that belongs to no client; `begin` starts its work. `target` is the URI or the
  /// page that it is about. The call gets exactly one result. Its error is marked as one of a nested
  /// call, so that a task can pass it on.
  private static func makeCall(
    _ kind: CallKind = .invoke, about target: String?, by rights: Rights,
    in session: isolated Session, timeout: Duration? = nil,
    attemptedOperation: SessionFailedOperation? = nil, onPageShown: ((String) -> Void)? = nil,
    _ begin: (isolated Session, ActiveCall) throws(CallError) -> CallDisposition
  ) async -> Result<SessionCallResponse, CallError> {
    let number = session.makeCallNumber()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let caller = AppCaller(
          rights: rights, onResult: { continuation.resume(returning: $0) }, onPageShown: onPageShown
        )
        guard let call = session.beginCall(number, kind, caller, timeout: timeout) else { return }
        call.attemptedOperation = attemptedOperation
        call.uri = target
        do throws(CallError) {
          switch try begin(session, call) {
          case .now(let response): session.settle(number, .success(response))
          case .failed(let error): session.settle(number, .failure(error))
          case .later: break
          }
        } catch {
          session.settle(number, .failure(error))
        }
      }
    } onCancel: {
      Task { await session.stop(number, .cancelled) }
    }.mapError(\.markedFromNestedCall)
  }
}

extension CallError {
  /// The error of a call of a client that is not in the session.
  static func clientAbsent(_ client: String) -> CallError {
    CallError(.hostAbsent, "The client \(client.quoted) is not in the session")
  }
}

extension SessionCallResponse {
  /// The outcome of an opening.
  var asOutcome: Outcome {
    get throws(CallError) {
      if case .outcome(let outcome) = self { return outcome }
      throw CallError(.internal, "The router returned no outcome")
    }
  }

  /// The change of the stack.
  var asChange: NavigationChange {
    get throws(CallError) {
      if case .stackChange(let change) = self { return change.navigation }
      throw CallError(.internal, "The stack returned no change")
    }
  }
}

/// Waits until the page of an opening is shown. Belongs to its session's isolation.
private final class OpeningPromise {
  typealias OpeningResult = Swift.Result<String?, CallError>
  private var result: OpeningResult?
  private var continuation: CheckedContinuation<OpeningResult, Never>?

  /// Completes the promise. Only the first result counts.
  func resolve(_ result: OpeningResult) {
    guard self.result == nil else { return }
    self.result = result
    continuation?.resume(returning: result)
    continuation = nil
  }

  // Not `#isolation`, which is `nil` in a closure that does not use the actor.
  func value(in session: isolated Session) async -> OpeningResult {
    if let result { return result }
    return await withCheckedContinuation { continuation = $0 }
  }
}
