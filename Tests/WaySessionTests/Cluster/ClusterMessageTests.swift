import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

struct ClusterMessageTests {
  private static let handshake = Handshake(
    subprotocol: "waybridge.v1", origin: "https://a.example", address: "10.0.0.1", token: "t")

  private static let identity = RelayedIdentity(
    reference: "token-1",
    .success(
      Identity(user: "ada", groups: [UTF8Key("b")], claims: ["plan": "pro"], expires: 123)))

  static let messages: [SessionClusterMessage] = [
    .presence(["sessions": 1]), .heartbeat, .reset,
    .request(7, method: "peer.hosts", params: ["a": 1]), .progress(7, "half"),
    .response(7, .success([1, 2])), .response(7, .success(.null)),
    .response(7, .failure(CallError(.hostAbsent, "gone", data: ["a": 1]))), .cancel(.max),
    relay(true, .open(RelayRequest(session: "s-1", handshake: handshake))),
    relay(true, .open(RelayRequest(session: "", handshake: handshake, identity: identity))),
    relay(true, .identity(identity)),
    relay(
      true,
      .identity(
        RelayedIdentity(reference: nil, .failure(CallError(.notAuthenticated, "there is none"))))),
    relay(false, .ready(.max)), relay(true, .first(ready: 1, age: 2, [3, 4])),
    relay(true, .text(Array("ä".utf8))), relay(false, .text([])), relay(false, .credit(65_536)),
    relay(true, .close(4200, "ends")), relay(false, .close(nil, "")),
    .fragment([1, 2, 3], isLast: false), .fragment([], isLast: true),
  ]

  private static func relay(_ isToOwner: Bool, _ content: RelayMessage.RelayContent)
    -> SessionClusterMessage
  {
    .relay(RelayMessage(number: 9, isToOwner: isToOwner, content: content))
  }

  @Test(arguments: messages.indices)
  func roundTripsEveryMessage(_ place: Int) throws {
    let message = Self.messages[place]
    let envelope = try ClusterEnvelope(
      ClusterEnvelope.bytes(from: "a-1", 3, message.bytes))
    #expect(envelope.sender == "a-1")
    #expect(envelope.number == 3)
    #expect("\(envelope.message)" == "\(message)")
  }

  @Test(arguments: messages.indices)
  func toleratesTruncatedMessages(_ place: Int) {
    let whole = ClusterEnvelope.bytes(from: "a", 1, Self.messages[place].bytes)
    for count in 0..<whole.count {
      // The last part of a message has no length prefix: it may end anywhere.
      if let envelope = try? ClusterEnvelope(Array(whole.prefix(count))) {
        #expect(envelope.sender == "a")
      }
    }
  }

  @Test func rejectsInvalidBytes() {
    #expect(throws: ByteDecodingError("it is truncated")) { try ClusterEnvelope([]) }
    #expect(throws: ByteDecodingError("its format is 123, and this version reads only 3")) {
      try ClusterEnvelope(Array("{}".utf8))
    }
    #expect(throws: ByteDecodingError("it has the unknown kind 99")) {
      try ClusterEnvelope(ClusterEnvelope.bytes(from: "a", 1, [99]))
    }
    #expect(throws: ByteDecodingError.self) {
      try ClusterEnvelope(ClusterEnvelope.bytes(from: "a", 1, [1] + Array("no JSON".utf8)))
    }
    #expect(throws: ByteDecodingError.self) {
      try ClusterEnvelope([2] + Array(repeating: 255, count: 30))
    }
  }

  @Test func requestsAreMessagesOfJSONRPC() {
    let request = SessionClusterMessage.request(7, method: "peer.hosts", params: ["a": 1])
    #expect(
      String(decoding: request.bytes.dropFirst(), as: UTF8.self)
        == #"{"jsonrpc":"2.0","id":7,"method":"peer.hosts","params":{"a":1}}"#)
    for text in ["{}", "[]", #"{"id":"x"}"#, #"{"method":"$/progress"}"#, #"{"method":"peer.a"}"#] {
      #expect(throws: ByteDecodingError.self) {
        try ClusterEnvelope(ClusterEnvelope.bytes(from: "a", 1, [4] + Array(text.utf8)))
      }
    }
  }

  /// Swift code may respond with a value that nests too deep for a message.
  @Test func responseThatCannotBeWrittenIsNull() throws {
    var value: Value = 1
    for _ in 0..<200 { value = [value] }
    let bytes = SessionClusterMessage.response(7, .success(value)).bytes
    let message = try SessionClusterMessage(ByteReader(bytes))
    #expect("\(message)" == "\(SessionClusterMessage.response(7, .success(.null)))")
  }
}
