import TestSupport
import Testing
import WayRPC

/// Arbitrary bytes are decoded or rejected. A decoded message can be written and decodes to the
/// same message.
@Suite struct MessageFuzzTests {
  static let samples = [
    #"{"jsonrpc":"2.0","id":1,"method":"a.b","params":{"x":[1,-2.5e3,"é\u00e9\n"],"y":null}}"#,
    #"{"jsonrpc":"2.0","method":"m","params":[true,false,{"":{}}]}"#,
    #"{"jsonrpc":"2.0","id":"7","result":{"a":18446744073709551616}}"#,
    #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m","data":[1]}}"#,
    #"[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"result":0},1,{}]"#,
  ]
  static let pieces = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "\"jsonrpc\":\"2.0\",",
    "\"id\":1,", "\"method\":\"m\",", "\"error\":{},", "\"result\":1,", "null", "true", "1e400",
    "-0",
    "0.1", " ", "\n", "\0", "\u{FEFF}", "é", "😀", "\u{2028}", "[[[[[[[[", "]]]]]]]]",
  ]

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func decodesOrRejectsArbitraryBytes(seed: UInt64) throws {
    var source = FuzzSource(seed: seed, samples: Self.samples, pieces: Self.pieces)
    let decoder = MessageDecoder()
    for _ in 0..<250 {
      let bytes = source.next()
      let incoming = decoder.decode(bytes.span.bytes)
      guard case .message(.request(let request)) = incoming else { continue }
      var writer = MessageWriter()
      try writer.writeRequest(request.id, request.method, request.params)
      #expect(
        summary(decoder.decode(writer.bytes.span.bytes)) == summary(incoming),
        "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
    }
  }
}
