import Testing
import WayTransport
import WayValues

@testable import WayRPC
@testable import WaySession

/// What a resumable client's link decides about frames, before anything reads their content.
struct InboundFrameTests {
  /// A frame, and what the client has sent before: whether it has shown that it numbers its messages.
  struct Case: Sendable, CustomTestStringConvertible {
    let method: String
    var id: RequestID? = .integer(1)
    var params: Value? = nil
    var seq: UInt64? = nil
    var hasNumbered = false
    let expected: InboundFrameDecision
    var testDescription: String { "\(method) \(seq.map { "seq \($0)" } ?? "without seq")" }
  }

  private static let cases = [
    Case(method: "router.invoke", seq: 1, expected: .accept),
    Case(method: "router.invoke", seq: 1, hasNumbered: true, expected: .drop),
    Case(method: "router.invoke", seq: 2, hasNumbered: true, expected: .accept),
    Case(
      method: "router.invoke", seq: 3, hasNumbered: true,
      expected: .close("the message after seq 1 is missing")),
    Case(method: "router.invoke", expected: .stopNumbering),
    Case(method: "router.invoke", hasNumbered: true, expected: .close("a message has no seq")),
    Case(method: "$/ping", expected: .acceptUnnumbered),
    Case(method: "$/ping", hasNumbered: true, expected: .acceptUnnumbered),
    Case(method: "$/ping", id: nil, expected: .stopNumbering),
    Case(method: "$/ack", id: nil, params: ["seq": 0], expected: .acknowledged),
    Case(
      method: "$/ack", id: nil, params: ["seq": 1],
      expected: .close("an ack of a message that was never sent")),
    Case(
      method: "$/ack", id: nil, params: ["seq": -1],
      expected: .close("an ack of a message that was never sent")),
    Case(
      method: "$/ack", id: nil, params: ["seq": "0"],
      expected: .close("an ack of a message that was never sent")),
    Case(method: "$/ack", id: nil, expected: .close("an ack of a message that was never sent")),
    Case(method: "$/ack", expected: .stopNumbering),
  ]

  @Test(arguments: cases)
  func linkDecidesAboutFrames(_ row: Case) {
    var link = ClientLink(
      Handshake(subprotocol: Handshake.sessionSubprotocol), LinkChannel(id: 1))
    if row.hasNumbered { _ = link.receive(SequenceNumbers(1), bytes: 1) }
    let view =
      if let id = row.id {
        RPCRequestView(Request(id: id, method: row.method, params: row.params))
      } else {
        RPCRequestView(Notification(method: row.method, params: row.params))
      }
    let decision = link.admit(.request(view), SequenceNumbers(row.seq), bytes: 10)
    #expect(decision == row.expected)
  }

  @Test func unreadableFramesNeedNoNumber() {
    var link = ClientLink(
      Handshake(subprotocol: Handshake.sessionSubprotocol), LinkChannel(id: 1))
    _ = link.receive(SequenceNumbers(1), bytes: 1)
    let error = CallError(.parseError, "no JSON")
    let malformed = link.admit(.decoded(.malformed(error)), .none, bytes: 1)
    let invalid = link.admit(.invalidUTF8(error), .none, bytes: 1)
    #expect(malformed == .accept && invalid == .accept)
  }
}
