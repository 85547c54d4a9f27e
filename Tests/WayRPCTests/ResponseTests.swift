import TestSupport
import Testing
import WayRPC
import WayValues

/// Responses that break JSON-RPC, and the errors of others.
struct ResponseTests {
  @Test(arguments: [
    ("1", "no integer `code`"), ("null", "no integer `code`"), ("{}", "no integer `code`"),
    (#"{"code":"1","message":"x"}"#, "no integer `code`"),
    (#"{"code":1.5,"message":"x"}"#, "no integer `code`"), (#"{"code":1}"#, "no string `message`"),
    (#"{"code":1,"message":null}"#, "no string `message`"),
  ])
  func invalidErrorSettlesCallWithInternalError(member: String, fault: String) throws {
    let error = try #require(failure(#"{"jsonrpc":"2.0","id":1,"error":\#(member)}"#))
    #expect(error.protocolCode == .internal)
    #expect(error.message.hasSuffix("its `error` has \(fault)"))
    #expect(error.data?["kind"] == "brokenResponse")
  }

  @Test(arguments: [
    (
      #"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#,
      "both `result` and `error`"
    ),
    (#"{"jsonrpc":"2.0","id":1,"result":1,"result":1}"#, "`result` occurs more than once in it"),
    (#"{"id":1,"result":1}"#, "`jsonrpc` is not"),
    (#"{"jsonrpc":"1.0","id":1,"error":{"code":1,"message":""}}"#, "`jsonrpc` is not"),
  ])
  func invalidResponseSettlesItsCall(text: String, fault: String) throws {
    let error = try #require(failure(text))
    #expect(error.protocolCode == .internal)
    #expect(error.message.contains(fault))
  }

  @Test func errorKeepsItsData() throws {
    let text =
      #"{"jsonrpc":"2.0","id":1,"error":{"code":2404,"message":"no","data":{"kind":"x"},"more":1}}"#
    #expect(failure(text) == CallError(code: 2404, message: "no", data: ["kind": "x"]))
  }

  /// A response with too many values completes its call, if its id says which one that is.
  @Test(arguments: [
    (#""id":7,"#, RequestID.integer(7)), (#""id":7.0,"#, .integer(7)), ("", nil),
    (#""id":true,"#, nil), (#""id":7,"id":7,"#, nil),
  ])
  func oversizedResponseSettlesItsCall(id: String, settled: RequestID?) {
    let text = #"{"jsonrpc":"2.0",\#(id)"result":[0,0,0,0,0,0]}"#
    switch decoded(text, with: MessageDecoder(maxValues: 8)) {
    case .message(.response(let response)):
      #expect(response.id == settled)
      let error = #expect(throws: CallError.self) { try response.result.get() }
      #expect(error?.code == 2413)
    case .message(.invalid(.null, let error)): #expect(settled == nil && error.code == 2413)
    case let other: Issue.record("\(other)")
    }
  }

  private func failure(_ text: String) -> CallError? {
    guard case .message(.response(let response)) = decoded(text), response.id == .integer(1),
      case .failure(let error) = response.result
    else { return nil }
    return error
  }
}
