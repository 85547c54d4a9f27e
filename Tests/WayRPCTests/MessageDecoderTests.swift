import TestSupport
import Testing
import WayRPC
import WayValues

@Suite struct MessageDecoderTests {
  /// A message or batch with too many values is rejected, with its id if possible.
  @Test(arguments: [
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":[0,0,0,0]}"#, RequestID.integer(1)),
    (#"{"jsonrpc":"2.0","method":"m","params":[[],[],[],[]]}"#, .null),
    (#"[{"jsonrpc":"2.0","id":1,"method":"m","params":[0,0,0,0]}]"#, .null),
  ])
  func rejectsMessagesWithTooManyValues(text: String, id: RequestID) throws {
    let bytes = Array(text.utf8)
    let incoming = MessageDecoder(maxValues: 8).decode(bytes.span.bytes)
    switch incoming {
    case .message(.invalid(let named, let error)):
      #expect(named == id)
      #expect(error.code == 2413)
    case .malformed(let error):
      #expect(id == .null)
      #expect(error.code == 2413)
    default: #expect(Bool(false), "it was accepted: \(incoming)")
    }
    let whole = MessageDecoder(maxValues: 20).decode(bytes.span.bytes)
    if case .malformed = whole { #expect(Bool(false), "it was rejected") }
    if case .message(.invalid) = whole { #expect(Bool(false), "it was rejected") }
  }

  /// A response that is not JSON still ends its call, whatever its result contains.
  @Test(arguments: [
    #"{"jsonrpc":"2.0","id":7,"result":"\ud83d"}"#,
    #"{"jsonrpc":"2.0","id":7.0,"result":NaN}"#,
    #"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"\ude00 {[\"}}"#,
    #"{"result":-Infinity, "seq":3, "id" : 7 }"#,
    #"{"jsonrpc":"2.0","id":7,"result":{"a":[1,]}}"#,
    #"{"jsonrpc":"2.0","id":7,"result":{"a":"#,
    #"{"jsonrpc":"2.0","id":7,"result":"cut"#,
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"a\tb\"}",
    #"{"jsonrpc":"2.0","id":7,"result":"# + String(repeating: "[", count: 1000)
      + String(repeating: "]", count: 1000) + "}",
    #"{"jsonrpc":"2.0","id":7,"result":{"# + String(repeating: #""a":["#, count: 200),
  ])
  func unreadableResponseSettlesItsCall(text: String) {
    let bytes = Array(text.utf8)
    guard case .message(.response(let response)) = MessageDecoder().decode(bytes.span.bytes) else {
      return #expect(Bool(false), "it is no response: \(text)")
    }
    #expect(response.id == .integer(7))
    #expect(response.isUnreadable)
  }

  @Test func unreadableBatchHasOnlyItsResponses() {
    let text =
      #"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":7,"result":NaN},"#
      + #"{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","id":8,"error":{"code":1}}]"#
    let bytes = Array(text.utf8)
    guard case .batch(let messages) = MessageDecoder().decode(bytes.span.bytes) else {
      return #expect(Bool(false), "it is no batch")
    }
    let ids = messages.map { message -> RequestID? in
      if case .response(let response) = message, response.isUnreadable { response.id } else { nil }
    }
    #expect(ids == [.integer(7), .integer(8)])
  }

  /// Whatever replaces the result of a response, the call does not wait for ever.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func responseWithArbitraryResultSettlesItsCall(seed: UInt64) {
    var source = FuzzSource(
      seed: seed, samples: MessageFuzzTests.samples, pieces: MessageFuzzTests.pieces)
    for _ in 0..<250 {
      let arbitrary = source.next()
      // Bytes that are not UTF-8 close the connection. A quotation mark could end the result early.
      guard let text = String(validating: arbitrary, as: UTF8.self), !text.isEmpty else { continue }
      let bytes = Array(#"{"jsonrpc":"2.0","id":7,"result":"#.utf8) + Array(text.utf8) + [0x7D]
      switch MessageDecoder().decode(bytes.span.bytes) {
      case .message(.response(let response)):
        #expect(response.id == .integer(7) || text.contains("\"id\""), "seed \(seed): \(text)")
      case .message(.invalid), .malformed:
        // The text has another `id` or `method` of the message.
        #expect(text.contains("\"id\"") || text.contains("\"method\""), "seed \(seed): \(text)")
      case let other: #expect(Bool(false), "seed \(seed): \(other)")
      }
    }
  }

  /// The number of a message that is not JSON, if it can be read.
  @Test(arguments: [
    (#"{"jsonrpc":"2.0","seq":5,"id":1,"method":"m","params":["\ud83d"]}"#, 5 as UInt64),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":[NaN],"seq":5.0}"#, 5),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":[NaN]}"#, 0),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":["cut"#, 0),
    ("[1 2]", 0),
  ])
  func unreadableMessageKeepsItsNumber(text: String, number: UInt64) {
    var numbers = SequenceNumbers.none
    let bytes = Array(text.utf8)
    guard case .malformed(let error) = MessageDecoder().decode(bytes.span.bytes, &numbers) else {
      return #expect(Bool(false), "it was accepted: \(text)")
    }
    #expect(numbers.last == number)
    #expect(error.data?["seq"]?.integer == (number > 0 ? Int64(number) : nil))
  }

  @Test(arguments: [
    (#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, "request 1 m"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#, "request 1 m []"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#, "request 1 m {}"),
    (
      #"{"params":{"a":[1,{"b":2}]},"method":"m","id":"x","jsonrpc":"2.0"}"#,
      #"request "x" m {"a":[1,{"b":2}]}"#
    ),
    (#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "request null m"),
    (#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, "request 1.0 m"),
    (#"{"jsonrpc":"2.0","id":1e2,"method":"m"}"#, "request 1e2 m"),
    (#"{"jsonrpc":"2.0","id":-0,"method":"m"}"#, "request -0 m"),
    (
      #"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"m"}"#,
      "request 12345678901234567890123 m"
    ),
    (#"{"jsonrpc":"2.0","id":"1","method":""}"#, #"request "1" "#),
    (#"{"jsonrpc":"2.0","id":"","method":"m"}"#, #"request "" m"#),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, "request 1 m"),
    (#"{"jsonrpc":"2.0","method":"m"}"#, "notification m"),
    (#"{"jsonrpc":"2.0","method":"m","params":[1]}"#, "notification m [1]"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","seq":7,"x":{"y":[]},"X":1,"x":2}"#, "request 1 m"),
    (#"{"jsonrpc":"2.0","\u0069d":1,"method":"m"}"#, "request 1 m"),
    (#"{"jsonrpc":"\u0032.0","id":1,"method":"m"}"#, "request 1 m"),
    (
      #"{"jsonrpc":"2.0","id":1,"method":"m","ID":2,"id\u0000":3,"i":4,"paramsx":1,"":0}"#,
      "request 1 m"
    ),
    (#"{"jsonrpc":"2.0","id":1,"method":"rpc.x"}"#, "request 1 rpc.x"),
    (#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null"),
    (#"{"jsonrpc":"2.0","id":"a","result":{"b":1.50}}"#, #"result "a" {"b":1.50}"#),
    (#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"x"}}"#, "failure 1 7"),
    (#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#, "failure null -32700"),
  ])
  func decodesValidMessages(text: String, expected: String) {
    #expect(summary(decoded(text)) == expected)
  }

  @Test(arguments: [
    ("{}", "invalid null -32600"), ("1", "invalid null -32600"), ("null", "invalid null -32600"),
    ("\"a\"", "invalid null -32600"), ("true", "invalid null -32600"),
    ("1.5", "invalid null -32600"),
    (#"{"id":1}"#, "invalid 1 -32600"), (#"{"jsonrpc":"2.0"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":"a"}"#, #"invalid "a" -32600"#),
    (#"{"id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":2,"id":1.5,"method":"m"}"#, "invalid 1.5 -32600"),
    (#"{"jsonrpc":"2.0 ","id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0\u0000","id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2","id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":null,"id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":["2.0"],"id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":1,"method":2}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","id":1,"method":null}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","method":"m","params":"bar"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":0}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":1,"id":2,"id":3,"method":"m"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"m"}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","method":"m"}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","params":[],"params":[]}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","id":1,"method":"m","error":{}}"#, "invalid 1 -32600"),
    (#"{"jsonrpc":"2.0","result":1}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":false,"result":1}"#, "invalid null -32600"),
    (#"{"jsonrpc":"2.0","id":1,"id":1,"result":1}"#, "invalid null -32600"),
  ])
  func rejectsInvalidMessages(text: String, expected: String) {
    #expect(summary(decoded(text)) == expected)
  }

  @Test(arguments: [
    "", " ", "{", "{]", "[1,]", #"{"jsonrpc":"2.0","id":1,"method":"m",}"#, "\u{FEFF}{}",
    #"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
    #"[{"jsonrpc":"2.0","method":"sum","params":[1],"id":"1"},{"jsonrpc":"2.0","method""#,
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}x",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\u{1}\"}",
  ])
  func reportsInvalidJSONAsMalformed(text: String) {
    guard case .malformed(let error) = decoded(text) else {
      Issue.record("taken")
      return
    }
    #expect(error.protocolCode == .parseError)
    #expect(error.message.hasPrefix("the message is not JSON: "))
    #expect(error.data?["kind"] == "parseError")
  }

  @Test func depthLimitIncludesTheMessage() {
    let head = #"{"jsonrpc":"2.0","id":1,"method":"m","params":"#
    #expect(summary(decoded(head + compact(nestedList(127)) + "}")).hasPrefix("request 1 m [["))
    for levels in [128, 129, 500, 100_000] {
      let params = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      #expect(summary(decoded(head + params + "}")) == "malformed -32700")
      #expect(summary(decoded("[" + head + compact(nestedList(127)) + "}]")) == "malformed -32700")
    }
    #expect(
      summary(decoded(head + "[[1]]}", with: MessageDecoder(maxDepth: 2))) == "malformed -32700")
  }
}
