import Testing

@testable import WaySession

struct SessionAdmissionStateTests {
  @Test(arguments: [
    (ConnectionState.awaitingHello, "session.open", false, ConnectionState.Action.openSession),
    (.awaitingHello, "session.open", true, .refuseInBatch),
    (.awaitingHello, "rpc.discover", false, .discover),
    (.awaitingHello, "router.open", false, .refuseNotOpen),
    (.anonymous, "session.open", false, .openSession),
    (.anonymous, "session.open", true, .refuseInBatch),
    (.anonymous, "router.open", true, .forward),
    (.open, "session.open", false, .forward),
    (.open, "router.open", false, .forward),
    (.closed, "router.open", false, .ignore),
  ])
  func requestIsTakenOrRefused(
    state: ConnectionState, method: String, inBatch: Bool, action: ConnectionState.Action
  ) {
    #expect(state.received(method, inBatch: inBatch) == action)
  }

  @Test func onlyAConnectionWithoutHelloTimesOut() {
    #expect(ConnectionState.awaitingHello.helloTimedOut())
    #expect(!ConnectionState.anonymous.helloTimedOut())
    #expect(!ConnectionState.open.helloTimedOut())
    #expect(!ConnectionState.closed.helloTimedOut())
  }

  @Test func aClosedConnectionStaysClosed() {
    var state = ConnectionState.closed
    state.opened()
    #expect(state == .closed)
  }
}
