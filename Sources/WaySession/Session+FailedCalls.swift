import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayValues

extension Session {
  /// Returns the operation of a method about a page, which a reference names, if there is one.
  /// Returns `nil` if route events are not observed.
  func failedOperation(
    _ method: String, about page: String?, by caller: Caller
  ) -> SessionFailedOperation? {
    guard events.isObserved(.route) else { return nil }
    let isURI = page?.utf8.contains(UInt8(ascii: ":")) == true
    let uri = page.flatMap { page in
      isURI
        ? RouteURI.normalForm(of: page)
        : pages.stack.find(resolver.reference(page, for: nil))?.uri
    }
    return SessionFailedOperation(method: method, uri: uri, addsURI: !isURI, caller: caller)
  }

  /// Returns the operation of a URI that leads to the stack. Returns `nil` if route events are not
  /// observed.
  func failedOperation(_ resolution: Resolution, by caller: Caller) -> SessionFailedOperation? {
    guard events.isObserved(.route) else { return nil }
    return SessionFailedOperation(
      method: nil, uri: resolution.uri.text, addsURI: false, caller: caller)
  }
}

extension Session {
  /// Reports a request that failed before it became a call, if it was about a URI, the stack or a
  /// page.
  ///
  /// A request that is rejected for its id or the number of calls is not reported, because its
  /// target was never looked up.
  func reportFailure(_ error: CallError, of request: RPCRequestView, by caller: Caller) {
    guard events.isObserved(.route), error.protocolCode != .conflict,
      error.protocolCode != .tooMany, error.protocolCode != .methodNotFound
    else { return }
    let params = request.params.value
    func text(_ name: String) -> String? { params?[name]?.string }
    switch request.method {
    case "router.open", "router.invoke": events.emitRouteFailure(text("uri"), error, by: caller)
    case let method where method == "page.call" || method.hasPrefix("navigation."):
      let page = text("uri") ?? text("to") ?? text("before") ?? text("page")
      events.emit(failed: failedOperation(method, about: page, by: caller), error)
    default: break
    }
  }
}

// The app's handlers of undefined routes and of failed calls, which may recover a call that has no
// host or fails.
extension Session {
  /// Runs the undefined-route handler.
  func runUndefinedRouteHandler(
    _ handler: @escaping UndefinedRouteHandler, _ destination: SessionDestination,
    _ callResolution: SessionCallResolution, _ call: ActiveCall
  ) {
    let handlerCall = Call(destination.resolution, callResolution.options, call.number, in: self)
    let began = loop.nanoseconds
    call.work = .task(
      Task {
        do {
          apply(try await handler(handlerCall), call, callResolution, since: began)
        } catch {
          let thrown = events.reportThrown(error, by: callResolution.caller)
          resume(call, callResolution, .failed(thrown))
        }
      })
  }

  /// Runs the failure handler for a call whose task or page has failed. Returns false if there is
  /// none that may help.
  func recover(_ call: ActiveCall, from error: CallError) -> Bool {
    guard let callResolution = call.resolution, resolver.snapshot.failedCallHandler != nil
    else { return false }
    call.resolution = nil
    let disposition = try? recover(
      callResolution, from: error, isReported: true, for: .call(call))
    guard disposition != nil else { return false }
    if let task = call.taskStart { events.emitTaskEnd(of: task, error) }
    call.taskStart = nil
    return true
  }

  /// Runs the failure handler. Returns `nil` if there is none that may help. `isReported` is true
  /// if the call's task or page has failed, and false if the call has reached neither.
  func recover(
    _ callResolution: SessionCallResolution, from error: CallError, isReported: Bool,
    for origin: CallOrigin
  ) throws(CallError) -> CallDisposition? {
    guard let handler = resolver.snapshot.failedCallHandler,
      callResolution.isRecoverable(from: error),
      let resolution = resolver.resolution(of: callResolution)
    else { return nil }
    let call = try beginCall(origin, callResolution)
    let handlerCall = Call(resolution, callResolution.options, call.number, in: self)
    call.work = .task(
      Task {
        let decision: UndefinedRouteDecision
        let began = loop.nanoseconds
        do {
          switch try await handler(handlerCall, error) {
          case .fail:
            return fail(call, callResolution, error, isReported: isReported)
          case .respond(let value): decision = .respond(value)
          case .redirect(let uri, let params): decision = .redirect(uri: uri, params: params)
          }
        } catch {
          let thrown = events.reportThrown(error, by: callResolution.caller)
          return fail(call, callResolution, thrown, isReported: isReported)
        }
        apply(decision, call, callResolution, since: began, isReported: isReported)
      })
    notifyStarted(call)
    return .later
  }

  /// Applies the decision of a handler.
  private func apply(
    _ decision: UndefinedRouteDecision, _ call: ActiveCall, _ callResolution: SessionCallResolution,
    since began: UInt64, isReported: Bool = false
  ) {
    if case .respond(let value) = decision {
      // The caller expects what the route declares that the call has reached.
      let expected = resolver.resolution(of: callResolution).flatMap {
        DeclaredResult(of: $0.route, at: $0.uri, host: "server")
      }
      if case .failure(let error) = check(value, expected) {
        return fail(call, callResolution, error, isReported: isReported)
      }
      events.emit(
        .route,
        .handlerResponded(uri: callResolution.currentURI, after: events.elapsed(since: began)),
        by: callResolution.caller)
    }
    resume(call, callResolution, .undefined(decision))
  }
}

// Results that do not fit their declarations.
extension Session {
  /// Checks the value of a task or of a page's method. Returns the value, or the error of its caller.
  func check(_ value: Value, _ expected: DeclaredResult?) -> Result<SessionCallResponse, CallError>
  {
    guard let expected,
      let invalid = InvalidResult(value, of: expected.schema, from: expected.source)
    else { return .success(.value(value)) }
    return handle(invalid, expected)
  }

  /// Handles a value that does not fit. Returns the value, or the error of its caller.
  func handle(
    _ invalid: InvalidResult, _ expected: DeclaredResult
  ) -> Result<SessionCallResponse, CallError> {
    let isRejected = environment.resultCheck == .reject
    events.report(expected.report(invalid, isRejected: isRejected))
    return isRejected
      ? .failure(expected.callerError(for: invalid)) : .success(.value(invalid.value))
  }

  /// The check of the data that pages return to their openers. `client` is the client that passes it;
  /// `nil` for Swift code.
  func pageResultCheck(from client: String?) -> PageResultCheck {
    PageResultCheck(resolver: resolver, events: events, treatment: environment.resultCheck, client)
  }
}

/// The check of the data that a page would return to its opener. It needs no session, so that a part
/// can make it when the turn of an operation comes.
struct PageResultCheck {
  private let resolver: SessionDestinationResolver
  private let events: SessionEvents
  private let treatment: ResultCheck
  private let client: String?

  fileprivate init(
    resolver: SessionDestinationResolver, events: SessionEvents, treatment: ResultCheck,
    _ client: String?
  ) {
    (self.resolver, self.events, self.treatment) = (resolver, events, treatment)
    self.client = client
  }

  /// Checks data before anything changes. Fails with 2422, kind `invalidResult`.
  func check(_ data: Value, of page: Page) throws(CallError) {
    guard !data.isNull,
      let expected = DeclaredResult(of: page, in: resolver.snapshot, host: client ?? "server"),
      let invalid = InvalidResult(data, of: expected.schema, from: .page)
    else { return }
    let isRejected = treatment == .reject
    events.report(expected.report(invalid, isRejected: isRejected))
    if isRejected { throw expected.pageError(for: invalid) }
  }
}
