import WayNavigation
import WayPatterns
import WayRouting
import WayValues

// Calls that Swift code makes in a session. Cancelling the Swift task cancels the call.
extension Session {
  /// Runs a call to its result. `kind` is opening or invoking.
  func runCall(
    _ kind: CallKind, _ uri: String, _ options: SessionCallOptions,
    onPageShown: ((String) -> Void)? = nil
  ) async throws -> SessionCallResponse {
    try Task.checkCancellation()
    return try await makeCall(.route(kind, uri: uri, options), onPageShown: onPageShown).get()
  }

  /// Opens a page or runs a task. Returns when the page is shown or the task has ended. If `client`
  /// names a client, the call is made on behalf of that client's page.
  func open(
    _ uri: String, _ callOptions: SessionCallOptions, as client: String?
  ) async -> Result<OpenedPage, CallError> {
    var options = callOptions
    if let client {
      guard let client = clients.named(client) else { return .failure(.clientAbsent(client)) }
      options.callingPage = client.page
    }
    let finalOptions = options
    let promise = OpeningPromise()
    let opening = Task {
      do {
        let response = try await runCall(
          .open, uri, finalOptions, onPageShown: { promise.resolve(.success($0)) })
        promise.resolve(.success(nil))
        return try response.asOutcome
      } catch {
        promise.resolve(
          .failure(
            (error as? CallError)
              ?? events.reportThrown(error, by: finalOptions.rights.caller)))
        throw error
      }
    }
    let page = await withTaskCancellationHandler {
      await promise.value(in: self)
    } onCancel: {
      opening.cancel()
    }
    return page.map { OpenedPage(page: $0, outcomeTask: opening) }
  }

  /// Calls a method of a page, at the client or the Swift handler that is responsible for it. Fails
  /// with 2408 after the timeout.
  func call(_ pageRequest: PageMethodRequest) async -> Result<Value, CallError> {
    await makeCall(.pageMethod(pageRequest)).map(\.value)
  }

  /// Asks a client by a request of its own. Fails with 2504 if it is gone, and after the timeout.
  func ask(_ clientRequest: ClientMethodRequest) async -> Result<Value, CallError> {
    await makeCall(.clientMethod(clientRequest)).map(\.value)
  }

  /// Changes the stack in turn, and returns the change. `method` is the method to authorize; `page`
  /// is the page reference in its params, if there is one.
  func changeStack(
    _ method: PolicyRouteMethod, about page: String?, _ exts: ValueObject, by rights: Rights,
    _ operation: (SessionDestinationResolver) -> StackOperation
  ) async throws(CallError) -> NavigationChange {
    let operation = operation(resolver)
    return try await makeCall(about: page, by: rights) { call throws(CallError) in
      call.attemptedOperation = failedOperation(method.name, about: page, by: rights.caller)
      try rights.authorize(method.name, .targetDependent)
      changeStack(operation, exts, by: rights, as: method, for: call)
      return .later
    }.get().asChange
  }

  /// Edits the stack in turn, and returns the change.
  func edit(_ request: StackEditRequest) async throws(CallError) -> NavigationChange {
    try await makeCall(.stackEdit(request)).get().asChange
  }

  func selectTab(_ tab: TabReference, by rights: Rights) async throws(CallError) -> NavigationChange
  {
    try await makeCall(about: tab.uri, by: rights) { call throws(CallError) in
      let attempt = failedOperation("navigation.selectTab", about: tab.uri, by: rights.caller)
      call.attemptedOperation = attempt
      try rights.authorize("navigation.selectTab")
      return try selectTab(tab, attempt, .invoke, rights, for: .call(call))
    }.get().asChange
  }

  private func makeCall(
    _ operation: CallOperation, onPageShown: ((String) -> Void)? = nil
  ) async -> Result<SessionCallResponse, CallError> {
    await makeCall(
      operation.kind, about: operation.target, by: operation.rights, timeout: operation.timeout,
      onPageShown: onPageShown
    ) { call in
      run(operation, call)
      return .later
    }
  }

  /// Makes a call that belongs to no client; `begin` starts its work. `target` is the URI or the
  /// page that it is about. The call gets exactly one result. Its error is marked as one of a nested
  /// call, so that a task can pass it on.
  private func makeCall(
    _ kind: CallKind = .invoke, about target: String?, by rights: Rights,
    timeout: Duration? = nil, onPageShown: ((String) -> Void)? = nil,
    _ begin: (ActiveCall) throws(CallError) -> CallDisposition
  ) async -> Result<SessionCallResponse, CallError> {
    let number = makeCallNumber()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let receiver = AppCaller.ResultReceiver.code(
          onResult: { continuation.resume(returning: $0) }, onPageShown: onPageShown)
        let caller = AppCaller(rights: rights, receiver: receiver)
        guard let call = beginCall(number, kind, caller, timeout: timeout) else { return }
        call.uri = target
        do throws(CallError) {
          settle(number, try begin(call))
        } catch {
          settle(number, .failure(error))
        }
      }
    } onCancel: {
      Task { await stop(number, .cancelled) }
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
