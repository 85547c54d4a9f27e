import Testing
import WayRPC
import WayValues

@Suite struct BatchTests {
  @Test(arguments: [
    ("[]", "malformed -32600"), ("[1]", "[invalid null -32600]"),
    ("[1,2,3]", "[invalid null -32600, invalid null -32600, invalid null -32600]"),
    ("[[]]", "[invalid null -32600]"), ("[null,{}]", "[invalid null -32600, invalid null -32600]"),
    (
      #"[{"jsonrpc":"2.0","id":1,"method":"a","params":[[1],[2]]},{"jsonrpc":"2.0","method":"b"},{"foo":"boo"},{"jsonrpc":"2.0","id":5,"result":0}]"#,
      "[request 1 a [[1],[2]], notification b, invalid null -32600, result 5 0]"
    ),
    (
      #"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":1,"method":"a"}]"#,
      "[request 1 a, request 1 a]"
    ),
  ])
  func decodesEachElementAsMessage(text: String, expected: String) {
    #expect(summary(decoded(text)) == expected)
  }

  @Test func rejectsWholeBatchOverLimit() throws {
    func batch(_ count: Int) -> String {
      "["
        + Array(repeating: #"{"jsonrpc":"2.0","method":"m"}"#, count: count).joined(separator: ",")
        + "]"
    }
    guard case .batch(let messages) = decoded(batch(100)) else {
      Issue.record("100 messages are rejected")
      return
    }
    #expect(messages.count == 100)
    guard case .malformed(let error) = decoded(batch(101)) else {
      Issue.record("101 messages are accepted")
      return
    }
    #expect(error.protocolCode == .tooLarge)
    #expect(error.message == "a batch may have at most 100 messages; this one has 101")
    #expect(error.data?["limit"] == 100)
    #expect(summary(decoded(batch(3), with: MessageDecoder(maxBatch: 2))) == "malformed 2413")
  }

  private let messages: [Message] = [
    .request(Request(id: .integer(1), method: "a")),
    .notification(Notification(method: "b")),
    .invalid(.null, CallError(.invalidRequest)),
    .response(Response(id: .integer(1), result: .success(nil))),
    .request(Request(id: .integer(2), method: "c")),
  ]

  @Test func joinsResponsesInRequestOrder() {
    var responses = BatchResponseCollector(for: messages)
    #expect(!responses.isComplete)
    let given = [4: "last", 0: "first", 2: "middle"]
    for position in [4, 0, 2] {
      #expect(!responses.isComplete)
      #expect(responses.fill(position, with: Array((given[position] ?? "").utf8)) == true)
    }
    #expect(responses.isComplete)
    #expect(responses.joined().map { String(decoding: $0, as: UTF8.self) } == "[first,middle,last]")
  }

  @Test(arguments: [-1, 1, 3, 5, Int.max])
  func ignoresResponseWithoutRequest(position: Int) {
    var responses = BatchResponseCollector(for: messages)
    #expect(responses.fill(position, with: [0x31]) == false)
    #expect(responses.joined() == nil)
  }

  @Test func ignoresSecondResponse() {
    var responses = BatchResponseCollector(for: [messages[0]])
    #expect(responses.fill(0, with: [0x31]) == true)
    #expect(responses.fill(0, with: [0x32]) == false)
    #expect(responses.joined() == [0x5B, 0x31, 0x5D])
  }

  @Test func notificationBatchCompletesWithoutResponse() {
    let responses = BatchResponseCollector(for: [messages[1], messages[3], messages[1]])
    #expect(responses.isComplete)
    #expect(responses.joined() == nil)
  }
}
