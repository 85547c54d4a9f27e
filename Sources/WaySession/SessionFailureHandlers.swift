import WayRouting
import WayValues

/// Runs the app's handlers of undefined routes and of failed calls, which may recover a call that
/// has no host or fails.
enum SessionFailureHandlers {
  /// Runs the undefined-route handler.
  static func runUndefinedRouteHandler(
    _ handler: @escaping UndefinedRouteHandler, _ destination: SessionDestination,
    _ callResolution: SessionCallResolution,
    _ call: ActiveCall, in session: isolated Session
  ) {
    let handlerCall = Call(destination.resolution, callResolution.options, call.number, in: session)
    let began = session.loop.nanoseconds
    call.work = .task(
      Task {
        do {
          apply(try await handler(handlerCall), call, callResolution, since: began, in: session)
        } catch {
          CallRunner.resume(
            call, callResolution,
            .failed(session.events.reportThrown(error, by: callResolution.caller)),
            in: session)
        }
      })
  }

  /// Runs the failure handler for a call whose task or page has failed. Returns false if there is
  /// none that may help.
  static func recover(
    _ call: ActiveCall, from error: CallError, in session: isolated Session
  ) -> Bool {
    guard let callResolution = call.resolution, session.resolver.snapshot.failedCallHandler != nil
    else {
      return false
    }
    call.resolution = nil
    let disposition = try? recover(
      callResolution, from: error, isReported: true, for: .call(call), in: session)
    guard disposition != nil else { return false }
    if let task = call.taskStart { session.events.emitTaskEnd(of: task, error) }
    call.taskStart = nil
    return true
  }

  /// Runs the failure handler. Returns `nil` if there is none that may help. `isReported` is true
  /// if the call's task or page has failed, and false if the call has reached neither.
  static func recover(
    _ callResolution: SessionCallResolution, from error: CallError, isReported: Bool,
    for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition? {
    guard let handler = session.resolver.snapshot.failedCallHandler,
      callResolution.isRecoverable(from: error),
      let resolution = session.resolver.resolution(of: callResolution)
    else { return nil }
    let call = try CallRunner.beginCall(origin, callResolution, in: session)
    let handlerCall = Call(resolution, callResolution.options, call.number, in: session)
    call.work = .task(
      Task {
        let decision: UndefinedRouteDecision
        let began = session.loop.nanoseconds
        do {
          switch try await handler(handlerCall, error) {
          case .fail:
            return CallRunner.fail(call, callResolution, error, isReported: isReported, in: session)
          case .respond(let value): decision = .respond(value)
          case .redirect(let uri, let params): decision = .redirect(uri: uri, params: params)
          }
        } catch {
          let thrown = session.events.reportThrown(error, by: callResolution.caller)
          return CallRunner.fail(call, callResolution, thrown, isReported: isReported, in: session)
        }
        apply(decision, call, callResolution, since: began, in: session)
      })
    call.notifyStarted()
    return .later
  }

  /// Applies the decision of a handler.
  private static func apply(
    _ decision: UndefinedRouteDecision, _ call: ActiveCall, _ callResolution: SessionCallResolution,
    since began: UInt64,
    in session: isolated Session
  ) {
    if case .respond = decision {
      session.events.emit(
        .route,
        .handlerResponded(
          uri: callResolution.currentURI, after: session.events.elapsed(since: began)),
        by: callResolution.caller)
    }
    CallRunner.resume(call, callResolution, .undefined(decision), in: session)
  }
}
