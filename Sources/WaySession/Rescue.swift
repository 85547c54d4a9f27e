import WayRouting
import WayValues

/// What may still help a call that nobody serves, or that fails: the app's handlers of undefined
/// routes and of failed calls.
enum Rescue {
  /// Asks the undefined-route handler.
  static func ask(
    _ handler: @escaping UndefinedRouteHandler, _ destination: Destination, _ journey: Journey,
    _ call: CallInFlight, in session: isolated Session
  ) {
    let asked = Call(destination.resolution, journey.options, call.number, in: session)
    let began = session.loop.nanoseconds
    call.work = .task(
      Task {
        do {
          follow(try await handler(asked), call, journey, since: began, in: session)
        } catch {
          CallRunner.goOn(call, journey, .failed(session.happenings.thrown(error)), in: session)
        }
      })
  }

  /// Whether the failure handler is asked about a call whose task or page has failed.
  static func saves(
    _ call: CallInFlight, from error: CallError, in session: isolated Session
  ) -> Bool {
    guard let journey = call.journey, session.guide.snapshot.failedCall != nil else { return false }
    call.journey = nil
    let reply = try? save(journey, from: error, isTold: true, for: .call(call), in: session)
    guard reply != nil else { return false }
    if let task = call.started { session.happenings.tellEnd(of: task, error) }
    call.started = nil
    return true
  }

  /// Asks the failure handler; nil where there is none that may help. `isTold` where the call's task
  /// or page has failed, and it has not come to nothing.
  static func save(
    _ journey: Journey, from error: CallError, isTold: Bool, for asker: Session.Asker,
    in session: isolated Session
  ) throws(CallError) -> Reply? {
    guard let handler = session.guide.snapshot.failedCall, journey.mayBeSaved(from: error),
      let said = session.guide.said(by: journey)
    else { return nil }
    let call = try CallRunner.begin(asker, journey, in: session)
    let asked = Call(said, journey.options, call.number, in: session)
    call.work = .task(
      Task {
        let decision: UndefinedRouteDecision
        let began = session.loop.nanoseconds
        do {
          switch try await handler(asked, error) {
          case .fail: return CallRunner.fail(call, journey, error, isTold: isTold, in: session)
          case .answer(let value): decision = .answer(value)
          case .redirect(let uri, let params): decision = .redirect(uri: uri, params: params)
          }
        } catch {
          let thrown = session.happenings.thrown(error)
          return CallRunner.fail(call, journey, thrown, isTold: isTold, in: session)
        }
        follow(decision, call, journey, since: began, in: session)
      })
    call.hasBegun()
    return .later
  }

  /// Does what a handler has decided.
  private static func follow(
    _ decision: UndefinedRouteDecision, _ call: CallInFlight, _ journey: Journey,
    since began: UInt64,
    in session: isolated Session
  ) {
    if case .answer = decision {
      session.happenings.tell(
        .route,
        .handlerAnswered(uri: journey.place, after: session.happenings.elapsed(since: began)))
    }
    CallRunner.goOn(call, journey, .undefined(decision), in: session)
  }
}
