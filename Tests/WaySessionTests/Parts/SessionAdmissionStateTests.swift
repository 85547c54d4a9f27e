import Testing
import WayRPC

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

  @Test(arguments: [
    // The message, and what to do with it while it waits for session.open, in an anonymous or an
    // opened session, and after the end.
    (
      #"{"jsonrpc":"2.0","id":1,"method":"session.open"}"#, ["admit", "admit", "forward", "ignore"]
    ),
    (
      #"{"jsonrpc":"2.0","id":1,"method":"session.resume"}"#,
      ["admit", "forward", "forward", "ignore"]
    ),
    (
      #"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#,
      ["respond", "forward", "forward", "ignore"]
    ),
    (#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#, ["respond", "forward", "forward", "ignore"]),
    (
      #"[{"jsonrpc":"2.0","id":1,"method":"$/ping"}]"#,
      ["respond", "forward", "forward", "ignore"]
    ),
    (
      #"[{"jsonrpc":"2.0","id":1,"method":"session.open"}]"#,
      ["respond", "respond", "forward", "ignore"]
    ),
    (#"{"jsonrpc":"2.0","method":"$/cancel"}"#, ["respond", "forward", "forward", "ignore"]),
    ("{", ["respond", "forward", "forward", "ignore"]),
  ])
  func sortsMessages(text: String, actions: [String]) {
    let bytes = [UInt8](text.utf8)
    let message = MessageDecoder().decode(bytes.span.bytes)
    let states: [SessionAdmissionState] = [.awaitingOpen, .anonymous, .open, .closed]
    let found = states.map { String("\($0.received(message))".prefix { $0.isLetter }) }
    #expect(found == actions)
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
