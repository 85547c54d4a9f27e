import Testing
import WayNavigation
import WayValues

@testable import WaySession

/// Calls begin, end once, and are stopped, without a session.
struct ActiveCallsTests {
  private var calls = Calls()

  private mutating func begin() -> CallInFlight {
    calls.begin(calls.makeNumber(), .invoke, .swift(SwiftCaller(answer: { _ in })))
  }

  private func isNothing(_ stop: Calls.Stop?) -> Bool {
    if case nil = stop { true } else { false }
  }

  @Test mutating func aCallEndsOnce() {
    let call = begin()
    #expect(calls.count == 1)
    #expect(calls.end(call.number) === call)
    #expect(calls.end(call.number) == nil)
    #expect(isNothing(calls.stop(call.number, .cancelled)))
  }

  @Test mutating func aCancelEndsACallThatWaitsForNoPage() {
    let call = begin()
    guard case .end(let stopped)? = calls.stop(call.number, .cancelled) else {
      Issue.record("it goes on")
      return
    }
    #expect(stopped === call)
    #expect(calls.count == 0)
  }

  @Test mutating func aCancelOfAShownPageClosesItOnceAndTheCallGoesOn() {
    let call = begin()
    call.work = .page("p1")
    guard case .close("p1")? = calls.stop(call.number, .cancelled) else {
      Issue.record("the page stays")
      return
    }
    #expect(isNothing(calls.stop(call.number, .cancelled)))
    #expect(calls.count == 1)
    guard case .end? = calls.stop(call.number, .callerGone) else {
      Issue.record("it goes on without its caller")
      return
    }
  }

  @Test(
    arguments: [
      (Entry.invoke, Answer.value(7), "7"), (.invoke, .change(StackChange()), "change"),
      (.open, .value(7), "finished 7"), (.open, .outcome(.dismissed), "dismissed null"),
      (.open, .change(StackChange()), "finished {page: null, closed: []}"),
    ])
  func eachDoorGivesItsKindOfAnswer(entry: Entry, answer: Answer, told: String) {
    let given =
      switch entry.answer(answer) {
      case .value(let value): value.brief
      case .change: "change"
      case .document: "document"
      case .outcome(let outcome): "\(outcome.kind.rawValue) \(outcome.data.brief)"
      }
    #expect(given == told)
  }
}
