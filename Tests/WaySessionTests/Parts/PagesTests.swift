import Testing
import WayNavigation
import WayTransport
import WayValues

@testable import WaySession

/// The pages of a session, without a session.
struct PagesTests {
  private var fixture = PagesFixture()

  @Test mutating func requestsPageThenShowsIt() throws {
    try fixture.open("a", call: 1)
    #expect(fixture.log == ["asked a", "ask p1"])
    fixture.respond("p1")
    #expect(fixture.log == ["shown p1 to 1", "opened a"])
    #expect(fixture.pages.count == 1)
  }

  @Test mutating func secondOpenWaitsForFirstResponse() throws {
    try fixture.open("a", call: 1)
    try fixture.open("b", call: 2)
    #expect(fixture.log == ["asked a", "ask p1"])
    fixture.respond("p1", CallError(code: 1, message: "no"))
    #expect(fixture.log == ["failed a", "settle 1 error 1", "asked b", "ask p2"])
  }

  @Test mutating func removesAbandonedOpenFromQueue() throws {
    try fixture.open("a", call: 1)
    try fixture.open("b", call: 2)
    fixture.abandon(2)
    fixture.respond("p1")
    _ = fixture.log
    try fixture.open("c", call: 3)
    #expect(fixture.log == ["asked c", "ask p3"])
  }

  @Test mutating func closesPageAcceptedAfterAbandon() throws {
    try fixture.open("a", call: 1)
    fixture.abandon(1)
    _ = fixture.log
    fixture.respond("p1")
    #expect(fixture.log == ["close p1 cancelled"])
    #expect(fixture.pages.stack.pages.isEmpty)
  }

  @Test mutating func silentHostDelaysQueueOnce() throws {
    try fixture.show("root", call: 7)
    try fixture.show("a", call: 1)
    try fixture.open("b", call: 2)
    try fixture.open("c", call: 3)
    fixture.changeStack(.back(.count(1), result: nil), call: 4)
    _ = fixture.log
    fixture.timeOut("p3")
    #expect(
      fixture.log == [
        "silent c-1", "failed b", "settle 2 error 2504", "recall", "failed c",
        "settle 3 error 2504", "close p2 dismissed", "resume p1", "settle 1 dismissed",
        "closed a", "resumed root", "settle 4 change",
      ])
  }

  @Test mutating func doesNotWaitForSilentHost() throws {
    try fixture.show("root", call: 7)
    try fixture.show("a", call: 1)
    try fixture.open("b", call: 2)
    fixture.timeOut("p3")
    try fixture.open("c", call: 3)
    _ = fixture.log
    fixture.changeStack(.back(.count(1), result: nil), call: 4)
    #expect(
      fixture.log == [
        "close p2 dismissed", "resume p1", "settle 1 dismissed", "closed a", "resumed root",
        "settle 4 change",
      ])
    fixture.respond("p4")
    #expect(fixture.log.contains("shown p4 to 3"))
    // It has responded, so the server waits for it again.
    try fixture.open("d", call: 5)
    fixture.changeStack(.back(.count(1), result: nil), call: 6)
    #expect(!fixture.log.contains("settle 6 change"))
  }

  @Test mutating func declinedOpenContinuesResolution() throws {
    try fixture.open("a", call: 1)
    _ = fixture.log
    fixture.respond("p1", CallError(code: 2404, message: "declined"), declined: true)
    #expect(fixture.log == ["go on 1"])
  }

  @Test mutating func backNotifiesHostOpenersListenersAndCallerInOrder() throws {
    try fixture.show("a", call: 1)
    try fixture.show("b", call: 2)
    fixture.changeStack(
      .back(.count(1), result: .finished(data: 7)), call: 3, exts: ["animated": false])
    #expect(
      fixture.log == [
        "close p2 finished animated", "resume p1", "settle 2 finished", "closed b", "resumed a",
        "settle 3 change",
      ])
  }

  @Test mutating func sharedPageStaysWhenOneOpenerCancels() throws {
    try fixture.show("a", call: 1)
    try fixture.show("b", call: 2)
    try fixture.open("a", call: 3, style: .popTo)
    _ = fixture.log
    fixture.cancel("p1", call: 3)
    #expect(fixture.log == ["settle 3 cancelled"])
    fixture.cancel("p1", call: 1)
    #expect(fixture.log == ["close p1 cancelled", "settle 1 cancelled", "closed a"])
  }

  @Test mutating func deliversNewParametersToOpenPage() throws {
    try fixture.show("a", call: 1)
    try fixture.show("b", call: 2)
    try fixture.open("a", call: 3, style: .popTo, params: ["x": 1], exts: ["animated": false])
    #expect(
      fixture.log == [
        "close p2 dismissed animated", "resume p1 uri params exts", "shown p1 to 3",
        "settle 2 dismissed", "closed b", "resumed a",
      ])
    try fixture.open("a?y", call: 4, style: .popTo, params: ["y": 2])
    #expect(fixture.log == ["resume p1 uri params", "shown p1 to 4"])
    try fixture.open("a", call: 5, style: .popTo)
    #expect(fixture.log == ["shown p1 to 5"])
    let entry = try #require(fixture.pages["p1"])
    #expect(entry.page.uri == "a?y" && entry.page.params == ["y": 2])
    #expect(entry.page.exts == ["animated": false])
    #expect(fixture.pages.stack.top == entry.page)
    #expect(entry.params["page"]?["params"] == ["y": 2])
  }

  @Test mutating func resumesTopPageAfterCoveredPageGotParameters() throws {
    let first = Page(id: "p9", uri: "t", route: nil, params: ["x": 1], host: "c-1")
    let delivery = NavigationDelivery(of: first, hasParams: true, hasExts: false)
    try fixture.show("a", call: 1, tab: 0)
    try fixture.show("b", call: 2)
    fixture.changeStack(.select(tab: 0, first: nil, delivering: delivery), call: 3)
    #expect(fixture.log == ["resume p1 uri params", "resume p2", "settle 3 change"])
    #expect(fixture.pages["p1"]?.page.params == ["x": 1])
    #expect(fixture.pages.stack.pages.map(\.params) == [["x": 1], [:]])
  }

  @Test mutating func chargesDeliveredParameters() throws {
    fixture = PagesFixture(maxBytes: 3000)
    let text = Value.string(String(repeating: "a", count: 300))
    try fixture.show("a", call: 1)
    for call in 2...20 {
      try fixture.open("a", call: call, style: .popTo, params: ["x": text])
      #expect(fixture.log == ["resume p1 uri params", "shown p1 to \(call)"])
    }
    let tooLong = Value.string(String(repeating: "a", count: 3000))
    #expect(throws: CallError.self) {
      try fixture.open("a", call: 21, style: .popTo, params: ["x": tooLong])
    }
    #expect(fixture.pages["p1"]?.page.params == ["x": text])
    // The bytes of the parameters are released with the page.
    fixture.changeStack(.end(outcome: .cancelled()), call: 22)
    try fixture.show(String(repeating: "a", count: 2800), call: 23)
  }

  @Test mutating func rejectsDeliveredParametersThatNestTooDeep() throws {
    try fixture.show("a", call: 1)
    func nested(_ levels: Int) -> Value { (1..<levels).reduce([]) { value, _ in [value] } }
    try fixture.open("a", call: 2, style: .popTo, params: ["x": nested(125)])
    #expect(fixture.log == ["settle 2 error 2413"])
    try fixture.open("a", call: 3, style: .popTo, params: ["x": nested(124)])
    #expect(fixture.log == ["resume p1 uri params", "shown p1 to 3"])
  }

  @Test mutating func usesPageThatWasShownWhileSilentHostWasAsked() throws {
    try fixture.show("root", call: 1)
    try fixture.open("b", call: 2, host: "c-2")
    fixture.timeOut("p2")
    try fixture.open("a", call: 3, style: .popTo, params: ["x": 1], host: "c-2")
    try fixture.open("a", call: 4)
    fixture.respond("p4")
    _ = fixture.log
    fixture.respond("p3")
    #expect(fixture.log == ["close p3 cancelled", "resume p4 uri params", "shown p4 to 3"])
    #expect(fixture.pages.count == 2)
    fixture.cancel("p4", call: 3)
    #expect(fixture.log == ["settle 3 cancelled"])
  }

  @Test(
    "pages are restored, also from a record without the URI that was called",
    arguments: [false, true])
  func restoresPages(isOldRecord: Bool) throws {
    var fixture = PagesFixture()
    try fixture.open("x://a?n=1", called: "x://alias", call: 1)
    fixture.respond("p1")
    try fixture.open("x://a?n=2", call: 2, style: .popTo, params: ["n": 2])
    var record =
      RecordCoder.value(of: OpenPageRecord(try #require(fixture.pages["p1"]), [])).object ?? [:]
    #expect(record["called"] == "x://alias")
    if isOldRecord { record["called"] = nil }
    var restored = PagesFixture()
    try StackRecord(fixture.pages.stack).restore(
      ["p1": RecordCoder.decode(from: .object(record), "page")], to: &restored.pages, in: "s-1", nil
    )
    let page = try #require(restored.pages.stack.top)
    #expect(page.uri == "x://a?n=2" && page.params == ["n": 2])
    #expect(page.calledURI == (isOldRecord ? "x://a?n=2" : "x://alias"))
    #expect(restored.pages["p1"]?.page == page)
  }

  @Test mutating func asksGuardsFromTopThenPerforms() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.show("b", call: 3)
    for page in ["p2", "p3"] { try fixture.pages.setGuard(of: 1, for: page, timeout: .seconds(1)) }
    fixture.changeStack(.back(.root), call: 4)
    #expect(fixture.log == ["ask guard of p3"])
    fixture.decide(.allow)
    #expect(fixture.log == ["ask guard of p2"])
    fixture.decide(.allow)
    #expect(
      fixture.log == [
        "close p3 dismissed", "close p2 dismissed", "resume p1", "settle 3 dismissed",
        "settle 2 dismissed", "closed b", "closed a", "resumed m", "settle 4 change",
      ])
  }

  @Test mutating func refusedOperationChangesNothing() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.pages.setGuard(of: 1, for: "p2", timeout: .seconds(1))
    try fixture.open("b", call: 3, style: .root)
    #expect(fixture.log == ["ask guard of p2"])
    fixture.decide(.deny(reason: "no"))
    #expect(fixture.log == ["settle 3 error 2423"])
    #expect(fixture.pages.count == 2)
  }

  @Test mutating func guardOfDepartedClientIsNotAsked() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.pages.setGuard(of: 9, for: "p2", timeout: .seconds(1))
    fixture.pages.removeGuards(of: 9)
    fixture.changeStack(.back(.count(1)), call: 3)
    #expect(fixture.log.last == "settle 3 change")
  }

  @Test mutating func doesNotCloseGuardedPageThatOpeningDidNotAsk() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.open("b", call: 3, style: .root)
    // The host of the opening is asked. Meanwhile the page beneath gets a guard.
    try fixture.pages.setGuard(of: 1, for: "p2", timeout: .seconds(1))
    _ = fixture.log
    fixture.respond("p3")
    #expect(fixture.log == ["close p3 cancelled", "settle 3 error 2409"])
  }

  @Test mutating func popToOfSilentHostDoesNotCloseGuardedPageThatItDidNotAsk() throws {
    try fixture.show("root", call: 1)
    try fixture.open("b", call: 2, host: "c-2")
    fixture.timeOut("p2")
    try fixture.open("a", call: 3, style: .popTo, host: "c-2")
    // Meanwhile another call shows the page, and a guarded one above it.
    try fixture.show("a", call: 4)
    try fixture.show("c", call: 5)
    try fixture.pages.setGuard(of: 1, for: "p5", timeout: .seconds(1))
    fixture.respond("p3")
    #expect(fixture.log == ["close p3 cancelled", "settle 3 error 2409"])
    #expect(fixture.pages.count == 3)
  }

  @Test mutating func rejectsForceOfWrongTypeWithoutGuards() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    fixture.changeStack(.back(.count(1)), call: 3, exts: ["force": "yes"])
    try fixture.open("b", call: 4, exts: ["force": 1])
    #expect(fixture.log == ["settle 3 error -32602", "settle 4 error -32602"])
    #expect(fixture.pages.count == 2)
  }

  @Test mutating func declinedOpeningDoesNotAskGuardAgain() throws {
    try fixture.show("m", call: 1)
    try fixture.pages.setGuard(of: 1, for: "p1", timeout: .seconds(1))
    try fixture.open("a", call: 2, style: .replace)
    fixture.decide(.allow)
    #expect(fixture.log == ["ask guard of p1", "asked a", "ask p2"])
    let declined = fixture.pages.handleResponse("p2", .declined, declined: true)
    guard case .continueCall(2)? = declined.first else { return #expect(Bool(false)) }
    try fixture.open("a", call: 2, style: .replace, host: "c-2")
    #expect(fixture.log == ["asked a", "ask p3"])
  }

  @Test mutating func editReplacesPagesAtOnce() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.show("b", call: 3)
    try fixture.edit(.page(.page("p2")), opening: ["x", "y"], call: 4, exts: ["animated": false])
    #expect(fixture.log == ["asked x", "ask p4 under p5"])
    fixture.respond("p4")
    #expect(fixture.log == ["asked y", "ask p5 under p3"])
    #expect(fixture.pages.stack.pages.map(\.id) == ["p1", "p2", "p3"])
    fixture.respond("p5")
    #expect(
      fixture.log == [
        "close p2 replaced animated", "resume p3", "settle 2 replaced", "closed a", "opened x",
        "opened y", "settle 4 change",
      ])
    #expect(fixture.pages.stack.pages.map(\.id) == ["p1", "p4", "p5", "p3"])
  }

  @Test(
    "a failure leaves the stack as it was", arguments: ["refused", "silent", "gone", "cancelled"])
  func failedEditChangesNothing(_ failure: String) throws {
    var fixture = PagesFixture()
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.edit(.all, opening: ["x", "y"], call: 3, host: "c-2")
    fixture.respond("p3")
    _ = fixture.log
    switch failure {
    case "refused":
      fixture.respond("p4", CallError(code: 1, message: "no"))
      #expect(fixture.log == ["failed y", "close p3 cancelled", "settle 3 error 1"])
    case "silent":
      fixture.timeOut("p4")
      #expect(
        fixture.log == [
          "silent c-2", "failed y", "recall", "close p3 cancelled", "settle 3 error 2504",
        ])
      fixture.respond("p4")
      #expect(fixture.log == ["close p4 cancelled"])
    case "gone":
      fixture.performAll(fixture.pages.hostLeft("c-2"))
      #expect(fixture.log == ["recall", "close p3 cancelled", "settle 3 error 2504"])
    default:
      fixture.abandon(3)
      #expect(fixture.log == ["recall", "close p3 cancelled"])
    }
    #expect(fixture.pages.stack.pages.map(\.id) == ["p1", "p2"])
    #expect(fixture.pages.count == 2)
  }

  @Test mutating func editFailsIfHostHasLostAgreedPage() throws {
    try fixture.show("m", call: 1)
    try fixture.edit(nil, opening: ["x", "y"], call: 2)
    fixture.respond("p2")
    _ = fixture.log
    fixture.performAll(fixture.pages.failEdits(showing: ["p1", "p2"], by: "c-1"))
    #expect(fixture.log == [] && fixture.pages.isEdited("p2"))
    fixture.performAll(fixture.pages.failEdits(showing: ["p1"], by: "c-1"))
    #expect(fixture.log == ["recall", "close p2 cancelled", "settle 2 error 2502"])
  }

  @Test mutating func editAsksGuardsBeforeHosts() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.pages.setGuard(of: 1, for: "p1", timeout: .seconds(1))
    try fixture.edit(.page(.page("p1")), opening: ["x"], call: 3)
    #expect(fixture.log == ["ask guard of p1"])
    fixture.decide(.deny(reason: "no"))
    #expect(fixture.log == ["settle 3 error 2423"])
    try fixture.edit(.page(.page("p1")), opening: ["x"], call: 4, exts: ["force": true])
    #expect(fixture.log == ["asked x", "ask p4 under p2"])
  }

  @Test mutating func editFailsIfStackChangesWhileSilentHostIsAsked() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    try fixture.open("b", call: 3, host: "c-2")
    fixture.timeOut("p3")
    try fixture.edit(.from(.page("p2")), opening: ["x"], call: 4, host: "c-2")
    try fixture.show("c", call: 5)
    fixture.respond("p4")
    #expect(fixture.log == ["close p4 cancelled", "settle 4 error 2409"])
    #expect(fixture.pages.stack.pages.map(\.id) == ["p1", "p2", "p5"])
  }

  @Test mutating func asksNextHostForDeclinedPageOfEdit() throws {
    try fixture.show("m", call: 1)
    try fixture.edit(nil, opening: ["x", "y"], call: 2)
    fixture.respond("p2")
    _ = fixture.log
    fixture.respond("p3", .declined, declined: true)
    #expect(fixture.log == ["go on 2001"])
    try fixture.resolve("y", 2001, of: 2, host: "c-2")
    fixture.respond("p4")
    #expect(fixture.log == ["asked y", "ask p4", "opened x", "opened y", "settle 2 change"])
    #expect(fixture.pages.stack.pages.map(\.id) == ["p1", "p2", "p4"])
  }

  @Test mutating func editWaitsForItsPagesWithoutBlocking() throws {
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    fixture.pages.begin(
      StackEdit(
        .page(.page("p2")), parts: [3000], for: 3, by: Rights.app.caller, exts: [:],
        closing: { _, _ in nil }))
    try fixture.show("b", call: 4)
    try fixture.resolve("x", 3000, of: 3)
    #expect(fixture.log == ["asked x", "ask p4 under p3"])
  }

  @Test mutating func emitsVisibilityOfPagesThatChange() throws {
    fixture = PagesFixture(observesVisibility: true)
    try fixture.show("m", call: 1)
    try fixture.open("a", call: 2, style: .present)
    fixture.respond("p2")
    #expect(
      fixture.log == ["asked a", "ask p2", "shown p2 to 2", "opened a", "covered m", "shown a"])
    fixture.changeStack(.back(.count(1)), call: 3)
    #expect(fixture.log.suffix(3) == ["resumed m", "shown m", "settle 3 change"])
  }

  @Test mutating func chargesEarlyResultUntilPageCloses() throws {
    fixture = PagesFixture(maxBytes: 260)
    try fixture.show("m", call: 1)
    try fixture.show("a", call: 2)
    let large = PageResult(.string(String(repeating: "x", count: 120)))
    try fixture.pages.setResult(large, of: "p2")
    #expect(throws: CallError.self) { try fixture.pages.setResult(large, of: "p1") }
    fixture.changeStack(.back(.count(1)), call: 3)
    #expect(fixture.log.contains("settle 2 finished"))
    try fixture.pages.setResult(large, of: "p1")
  }

  @Test mutating func suspendedStackStartsNothing() throws {
    fixture.pages.isSuspended = true
    try fixture.open("a", call: 1)
    #expect(fixture.log == [])
    fixture.pages.isSuspended = false
    fixture.performAll([])
    #expect(fixture.log == ["asked a", "ask p1"])
  }

  @Test mutating func releasesBytesOfClosedPages() throws {
    fixture = PagesFixture(maxBytes: 100)
    let uri = String(repeating: "a", count: 30)
    try fixture.show(uri, call: 1)
    #expect(throws: CallError.self) { try fixture.open(uri, call: 2) }
    fixture.changeStack(.back(.root), call: 3)
    fixture.changeStack(.end(outcome: .cancelled()), call: 4)
    try fixture.show(uri, call: 5)
  }

  @Test(
    "random events end each call once and close each open page once",
    arguments: 1...60)
  func randomEventsEndCallsAndPagesOnce(seed: Int) throws {
    var randomFixture = PagesFixture()
    try randomFixture.runRandomEvents(seed: UInt64(seed), steps: 200)
    #expect(randomFixture.violations == [])
  }
}
