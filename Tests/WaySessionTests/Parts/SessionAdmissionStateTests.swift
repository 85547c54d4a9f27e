import Testing

@testable import WaySession

struct SessionAdmissionStateTests {
  @Test(arguments: [
    (
      SessionAdmissionState.awaitingOpen, "session.open", false,
      SessionAdmissionState.AdmissionAction.openSession
    ),
    (.awaitingOpen, "session.open", true, .rejectInBatch),
    (.awaitingOpen, "rpc.discover", false, .discover),
    (.awaitingOpen, "router.open", false, .rejectNotOpen),
    (.anonymous, "session.open", false, .openSession),
    (.anonymous, "session.open", true, .rejectInBatch),
    (.anonymous, "router.open", true, .forward),
    (.open, "session.open", false, .forward),
    (.open, "router.open", false, .forward),
    (.closed, "router.open", false, .ignore),
  ])
  func admitsOrRejectsRequest(
    state: SessionAdmissionState, method: String, inBatch: Bool,
    action: SessionAdmissionState.AdmissionAction
  ) {
    #expect(state.received(method, inBatch: inBatch) == action)
  }

  @Test func onlyUnopenedConnectionTimesOut() {
    for identifies in [false, true] {
      for hasSession in [false, true] {
        func hasDeadline(_ state: SessionAdmissionState) -> Bool {
          state.hasDeadline(identifies: identifies, hasSession: hasSession)
        }
        #expect(hasDeadline(.awaitingOpen))
        #expect(hasDeadline(.anonymous) == (identifies && !hasSession))
        #expect(!hasDeadline(.open))
        #expect(!hasDeadline(.closed))
      }
    }
  }

  @Test func closedConnectionStaysClosed() {
    var state = SessionAdmissionState.closed
    state.opened()
    #expect(state == .closed)
  }
}
