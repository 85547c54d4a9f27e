import Testing
import WayNavigation
import WayTransport
import WayValues

@testable import WaySession

/// What becomes of the pages of a session, without a session.
struct PagesTests {
  private var stage = PagesFixture()

  @Test mutating func aPageIsAskedForThenShown() throws {
    try stage.open("a", call: 1)
    #expect(stage.log == ["asked a", "ask p1"])
    stage.answer("p1")
    #expect(stage.log == ["shown p1 to 1", "opened a"])
    #expect(stage.pages.count == 1)
  }

  @Test mutating func theSecondWaitsUntilTheFirstIsAnswered() throws {
    try stage.open("a", call: 1)
    try stage.open("b", call: 2)
    #expect(stage.log == ["asked a", "ask p1"])
    stage.answer("p1", CallError(code: 1, message: "no"))
    #expect(stage.log == ["failed a", "settle 1 error 1", "asked b", "ask p2"])
  }

  @Test mutating func anOpenerThatGivesUpIsTakenOutOfTheQueue() throws {
    try stage.open("a", call: 1)
    try stage.open("b", call: 2)
    stage.abandon(2)
    stage.answer("p1")
    _ = stage.log
    try stage.open("c", call: 3)
    #expect(stage.log == ["asked c", "ask p3"])
  }

  @Test mutating func aHostThatAgreesTooLateIsToldToCloseThePage() throws {
    try stage.open("a", call: 1)
    stage.abandon(1)
    _ = stage.log
    stage.answer("p1")
    #expect(stage.log == ["close p1 cancelled"])
    #expect(stage.pages.stack.pages.isEmpty)
  }

  @Test mutating func aSilentHostHoldsUpTheOthersOnce() throws {
    try stage.show("root", call: 7)
    try stage.show("a", call: 1)
    try stage.open("b", call: 2)
    try stage.open("c", call: 3)
    stage.change(.back(.count(1), result: nil), call: 4)
    _ = stage.log
    stage.overdue("p3")
    #expect(
      stage.log == [
        "silent c-1", "failed b", "settle 2 error 2504", "recall", "failed c",
        "settle 3 error 2504", "close p2 dismissed", "resume p1", "settle 1 dismissed",
        "closed a", "resumed root", "settle 4 change",
      ])
  }

  @Test mutating func aHostThatIsSilentIsAskedAndNotWaitedFor() throws {
    try stage.show("root", call: 7)
    try stage.show("a", call: 1)
    try stage.open("b", call: 2)
    stage.overdue("p3")
    try stage.open("c", call: 3)
    _ = stage.log
    stage.change(.back(.count(1), result: nil), call: 4)
    #expect(
      stage.log == [
        "close p2 dismissed", "resume p1", "settle 1 dismissed", "closed a", "resumed root",
        "settle 4 change",
      ])
    stage.answer("p4")
    #expect(stage.log.contains("shown p4 to 3"))
    // It has answered, so that it is waited for again.
    try stage.open("d", call: 5)
    stage.change(.back(.count(1), result: nil), call: 6)
    #expect(!stage.log.contains("settle 6 change"))
  }

  @Test mutating func aDecliningHandlerLeavesTheCallToGoOn() throws {
    try stage.open("a", call: 1)
    _ = stage.log
    stage.answer("p1", CallError(code: 2404, message: "declined"), declined: true)
    #expect(stage.log == ["go on 1"])
  }

  @Test mutating func goingBackTellsHostThenOpenersThenListenersThenTheCaller() throws {
    try stage.show("a", call: 1)
    try stage.show("b", call: 2)
    stage.change(.back(.count(1), result: .finished(data: 7)), call: 3, exts: ["animated": false])
    #expect(
      stage.log == [
        "close p2 finished animated", "resume p1", "settle 2 finished", "closed b", "resumed a",
        "settle 3 change",
      ])
  }

  @Test mutating func aPageThatTwoAwaitStaysWhenOneCancels() throws {
    try stage.show("a", call: 1)
    try stage.show("b", call: 2)
    try stage.open("a", call: 3, style: .popTo)
    _ = stage.log
    stage.cancel("p1", call: 3)
    #expect(stage.log == ["settle 3 cancelled"])
    stage.cancel("p1", call: 1)
    #expect(stage.log == ["close p1 cancelled", "settle 1 cancelled", "closed a"])
  }

  @Test mutating func whileItIsHeldNothingBegins() throws {
    stage.pages.isHeld = true
    try stage.open("a", call: 1)
    #expect(stage.log == [])
    stage.pages.isHeld = false
    stage.act([])
    #expect(stage.log == ["asked a", "ask p1"])
  }

  @Test mutating func theBytesOfPagesThatHaveGoneAreFreeAgain() throws {
    stage = PagesFixture(maxBytes: 100)
    let uri = String(repeating: "a", count: 30)
    try stage.show(uri, call: 1)
    #expect(throws: CallError.self) { try stage.open(uri, call: 2) }
    stage.change(.back(.root), call: 3)
    stage.change(.end(outcome: .cancelled()), call: 4)
    try stage.show(uri, call: 5)
  }

  @Test(
    "whatever happens, each call ends once and each page that is shown closes once",
    arguments: 1...60)
  func everythingEndsOnce(seed: Int) throws {
    var stage = PagesFixture()
    try stage.play(seed: UInt64(seed), steps: 200)
    #expect(stage.faults == [])
  }
}
