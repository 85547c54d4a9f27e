import TestSupport
import Testing
import WayRPC
import WayValues

/// Requests that are read without copying.
struct RequestViewTests {
  /// Reads a frame with one request.
  private func read(_ text: String, _ body: (borrowing RPCRequestView) -> Void) {
    var count = 0
    MessageDecoder().read(Array(text.utf8).span.bytes) { frame, _ in
      guard case .request(let request) = frame else { return }
      count += 1
      body(request)
    }
    #expect(count == 1, "\(text)")
  }

  @Test(arguments: 0...20)
  func recognizesMethodByEndOfName(length: Int) {
    let name = String("router.invoke.é.a.bc".unicodeScalars.suffix(length).map(Character.init))
    let other = name.isEmpty ? "x" : "x" + name.dropFirst()
    // The macro does not accept a non-escapable value.
    func check(_ request: borrowing RPCRequestView) {
      let (end, method) = (request.methodSuffix, request.method)
      #expect(end == NameSuffix(name))
      #expect(method == name)
      let found = [name, other, name + "x"].map { request.hasMethod($0) }
      #expect(found == [true, false, false])
    }
    read(#"{"jsonrpc":"2.0","id":1,"method":"\#(name)"}"#) { request in
      check(request)
    }
    let decoded = RPCRequestView(Request(id: .integer(1), method: name))
    check(decoded)
  }

  @Test func returnsFirstStringOfSomeMembersWithoutTheRest() {
    let names = RPCParamsView.MemberNames(["uri", "to", "page"])
    func check(_ params: borrowing RPCParamsView, _ expected: [String?]) {
      let found = [100, 4, 3].map { params.firstString(of: names, maxBytes: $0) }
      #expect(found == expected)
    }
    let cases: [(String, [String?])] = [
      (#"{"page":"p","x":"y","to":"abcdé","uri":["u"]}"#, ["abcdé", "abcd", "abc"]),
      (#"{"page":"","to":null}"#, ["", "", ""]), (#"{"x":"y"}"#, [nil, nil, nil]),
      (#"["uri","x"]"#, [nil, nil, nil]), ("null", [nil, nil, nil]),
    ]
    for (params, expected) in cases {
      read(#"{"jsonrpc":"2.0","method":"m","params":\#(params)}"#) { request in
        check(request.params, expected)
        let value = request.params.value
        let decoded = RPCRequestView(Request(id: .integer(1), method: "m", params: value))
        check(decoded.params, expected)
      }
    }
  }

  @Test func locatesLastMemberOfEachFullName() {
    let names = RPCParamsView.MemberNames([
      "a", "onBehalfOf", "onBehalfIf", "", "deadlineMs", "absent",
    ])
    let members =
      #"{"onBehalfOf":1,"x":{"a":9},"a":[2],"deadlineMs":"s","":null,"a":"\u0061","onBehalf":3}"#
    let expected: [Value?] = ["a", 1, .none, .some(.null), "s", .none]
    func check(_ params: borrowing RPCParamsView) {
      var places = RPCParamsView.MemberPositions(repeating: -1)
      params.locate(names, &places)
      for (index, value) in expected.enumerated() {
        let found = places[index] < 0 ? Value?.none : params.value(of: Int(places[index]))
        #expect(found == value, "\(names.strings[index])")
      }
      let texts = [0, 1].map { params.string(of: Int(places[$0])) }
      #expect(texts == ["a", nil])
      let found = [(0, "a"), (0, "b"), (1, "1")].map {
        params.isString($1, of: Int(places[$0]))
      }
      #expect(found == [true, false, false])
    }
    read(#"{"jsonrpc":"2.0","method":"m","params":\#(members)}"#) { request in
      let id = request.id
      #expect(id == nil)
      check(request.params)
      let decoded = RPCRequestView(
        Request(id: .integer(1), method: "m", params: request.params.value))
      check(decoded.params)
    }
  }

  @Test func laterParsingDoesNotChangeView() throws {
    let large = "[" + String(repeating: #""text",1.50,-0,"#, count: 20_000) + "null]"
    read(#"{"jsonrpc":"2.0","id":"x","method":"m","params":{"a":-0,"b":[1.50,{"c":"é"}]}}"#) {
      request in
      for text in ["{}", "[[[1]]]", "no JSON", large] {
        let parsed = try? JSON.parse(text)
        #expect((parsed == nil) == (text == "no JSON"))
        // One more level.
        read(#"{"jsonrpc":"2.0","id":2,"method":"inner"}"#) { inner in
          #expect((try? JSON.parse("3")) == 3)
          let isInner = inner.hasMethod("inner")
          #expect(isInner)
        }
        let (isSame, params, message) = (
          request.hasMethod("m"), request.params.value, request.message
        )
        #expect(isSame)
        #expect(params?["a"] == Number(digits: "-0").map(Value.number))
        #expect(params?["b"]?.array?.last?["c"] == "é")
        #expect(message == .request(Request(id: .string("x"), method: "m", params: params)))
      }
    }
  }
}
