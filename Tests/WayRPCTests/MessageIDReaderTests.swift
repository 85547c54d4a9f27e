import Testing
import WayRPC
import WayValues

/// Which ids are read from the beginning of messages, and how a request loses its id.
struct MessageIDReaderTests {
  private static let cases: [(text: String, responses: [RequestID], notification: String?)] = [
    (
      #"{"jsonrpc":"2.0","seq":1,"id":"a","method":"m","params":{"id":"a"}}"#, [],
      #"{"jsonrpc":"2.0","seq":1,"method":"m","params":{"id":"a"}}"#
    ),
    (#"{"jsonrpc":"2.0","id":"a","method":"m"}"#, [], #"{"jsonrpc":"2.0","method":"m"}"#),
    (
      #"{"jsonrpc":"2.0","seq":12,"id":7,"method":"m"}"#, [],
      #"{"jsonrpc":"2.0","seq":12,"method":"m"}"#
    ),
    (
      #"{"jsonrpc":"2.0","seq":1,"id":"a\"b\\","method":"m"}"#, [],
      #"{"jsonrpc":"2.0","seq":1,"method":"m"}"#
    ),
    (#"{"jsonrpc":"2.0","seq":1,"id":"other","method":"m"}"#, [], nil),
    (#"{"jsonrpc":"2.0","seq":1,"method":"m","params":{"id":"a"}}"#, [], nil),
    (#"{"jsonrpc":"2.0","seq":1,"id":"a","result":1}"#, [.string("a")], nil),
    (#"{"jsonrpc":"2.0","seq":1,"id":null,"error":{"code":1}}"#, [.null], nil),
    (
      #"[{"jsonrpc":"2.0","seq":1,"id":"a","result":1},{"jsonrpc":"2.0","seq":2,"id":"b","method":"m"}]"#,
      [.string("a")], nil
    ),
    ("", [], nil), ("{}", [], nil), (#"{"jsonrpc":"2.0","id":"a"#, [], nil),
  ]

  @Test(arguments: cases) func readsIDs(
    text: String, responses: [RequestID], notification: String?
  ) {
    let bytes = Array(text.utf8)
    #expect(MessageIDReader.responseIDs(in: bytes.span.bytes) == responses)
    let ids: Set<RequestID> = [.string("a"), .integer(7), .string(#"a"b\"#)]
    let found = MessageIDReader.notification(of: bytes.span.bytes, whoseIDIsIn: ids)
    #expect(found.map { String(decoding: $0, as: UTF8.self) } == notification)
  }
}
