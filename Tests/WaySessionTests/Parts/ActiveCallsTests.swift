import Testing
import WayNavigation
import WayValues

@testable import WaySession

/// Calls that start, end once and are cancelled, without a session.
struct ActiveCallsTests {
  private var activeCalls = ActiveCalls()

  private mutating func beginCall() -> ActiveCall {
    activeCalls.begin(
      activeCalls.makeNumber(), .invoke, .app(AppCaller(receiver: .code(onResult: { _ in }))))
  }

  private func isNil(_ stop: ActiveCalls.StopAction?) -> Bool {
    if case nil = stop { true } else { false }
  }

  @Test mutating func endsCallOnce() {
    let call = beginCall()
    #expect(activeCalls.count == 1)
    #expect(activeCalls.end(call.number) === call)
    #expect(activeCalls.end(call.number) == nil)
    #expect(isNil(activeCalls.stop(call.number, .cancelled)))
  }

  @Test mutating func cancelEndsCallWithoutPage() {
    let call = beginCall()
    guard case .end(let stopped)? = activeCalls.stop(call.number, .cancelled) else {
      Issue.record("it continues")
      return
    }
    #expect(stopped === call)
    #expect(activeCalls.count == 0)
  }

  @Test mutating func cancelClosesOpenPageOnceAndKeepsCall() {
    let call = beginCall()
    call.work = .page("p1")
    guard case .close("p1")? = activeCalls.stop(call.number, .cancelled) else {
      Issue.record("the page stays")
      return
    }
    #expect(isNil(activeCalls.stop(call.number, .cancelled)))
    #expect(activeCalls.count == 1)
    guard case .end? = activeCalls.stop(call.number, .callerLeft) else {
      Issue.record("it continues without its caller")
      return
    }
  }

  @Test(
    arguments: [
      (CallKind.invoke, SessionCallResponse.value(7), "7"),
      (.invoke, .stackChange(StackChange()), "change"),
      (.open, .value(7), "finished 7"), (.open, .outcome(.dismissed), "dismissed null"),
      (.open, .stackChange(StackChange()), "finished {page: null, closed: []}"),
    ])
  func convertsResponseToCallKind(kind: CallKind, response: SessionCallResponse, expected: String) {
    let given =
      switch kind.adapted(response) {
      case .value(let value): value.brief
      case .stackChange: "change"
      case .openRPCDocument: "document"
      case .outcome(let outcome): "\(outcome.kind.rawValue) \(outcome.data.brief)"
      }
    #expect(given == expected)
  }
}
