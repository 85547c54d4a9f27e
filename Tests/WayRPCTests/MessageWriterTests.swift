import Testing
import WayRPC
import WayValues

@Suite struct MessageWriterTests {
  @Test func eachMessageReplacesThePreviousOne() throws {
    var writer = MessageWriter()
    writer.writeResponse(.integer(1), ["a": [1, true, nil, "x", [:], []]])
    #expect(writer.text == #"{"jsonrpc":"2.0","id":1,"result":{"a":[1,true,null,"x",{},[]]}}"#)
    writer.writeResponse(.null, nil)
    #expect(writer.text == #"{"jsonrpc":"2.0","id":null,"result":null}"#)
    writer.writeError(.string("a\"b"), CallError(code: 7, message: "no\nway"))
    #expect(writer.text == #"{"jsonrpc":"2.0","id":"a\"b","error":{"code":7,"message":"no\nway"}}"#)
    writer.writeError(.number("1.0"), CallError(code: Int.min, message: "", data: nil as Value))
    #expect(
      writer.text
        == #"{"jsonrpc":"2.0","id":1.0,"error":{"code":-9223372036854775808,"message":"","data":null}}"#
    )
    try writer.writeRequest(.integer(Int64.max), "m", ["a": false])
    #expect(
      writer.text
        == #"{"jsonrpc":"2.0","id":9223372036854775807,"method":"m","params":{"a":false}}"#)
    try writer.writeNotification("$/progress")
    #expect(writer.text == #"{"jsonrpc":"2.0","method":"$/progress"}"#)
  }

  @Test func protocolErrorsIncludeKindAndRetryability() {
    var writer = MessageWriter()
    writer.writeError(
      .integer(1), CallError(.tooMany, "slow down", kind: "rate", data: ["retryAfterMs": 50]))
    #expect(
      writer.text
        == #"{"jsonrpc":"2.0","id":1,"error":{"code":2429,"message":"slow down","data":{"kind":"rate","retryable":true,"retryAfterMs":50}}}"#
    )
    writer.writeError(.integer(1), CallError(.noRoute))
    #expect(
      writer.text
        == #"{"jsonrpc":"2.0","id":1,"error":{"code":2404,"message":"no route","data":{"kind":"noRoute","retryable":false}}}"#
    )
  }

  @Test(arguments: [(127, false), (126, true)])
  func tooDeepResultBecomesError(deepest: Int, inBatch: Bool) {
    var writer = MessageWriter()
    writer.writeResponse(.integer(1), nestedList(deepest), inBatch: inBatch)
    let frame = inBatch ? "[\(writer.text)]" : writer.text
    #expect(summary(decoded(frame)).contains("result 1 [["))

    writer.writeResponse(.integer(1), nestedList(deepest + 1), inBatch: inBatch)
    guard case .message(.response(let response)) = decoded(writer.text),
      case .failure(let error) = response.result
    else {
      Issue.record("\(writer.text)")
      return
    }
    #expect(response.id == .integer(1))
    #expect(error.protocolCode == .internal)
    #expect(error.data?["kind"] == "unencodableResult")
  }

  @Test func omitsUnencodableErrorData() {
    var writer = MessageWriter()
    writer.writeError(.integer(1), CallError(code: 7, message: "x", data: nestedList(127)))
    #expect(writer.text == #"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"x"}}"#)
    writer.writeError(.integer(1), CallError(code: 7, message: "x", data: nestedList(126)))
    #expect(summary(decoded(writer.text)) == "failure 1 7")
    #expect(writer.text.contains("data"))
  }

  @Test func unencodableParamsThrowAndLeaveNoBytes() throws {
    var writer = MessageWriter()
    try writer.writeRequest(.integer(1), "m", nestedList(127))
    #expect(throws: EncodingFailure.self) {
      try writer.writeRequest(.integer(1), "m", nestedList(128))
    }
    #expect(writer.bytes.isEmpty)
    #expect(throws: EncodingFailure.self) { try writer.writeNotification("m", nestedList(128)) }
    #expect(writer.bytes.isEmpty)
  }

  @Test(arguments: [0, 9, 10, 99, 100, -1, -10, 1_234_567_890, Int64.max, Int64.min] as [Int64])
  func writesIntegers(value: Int64) {
    #expect(compact(.integer(value)) == String(value))
  }
}
