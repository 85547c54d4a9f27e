import Testing
import WayPatterns
import WayRouting
import WayValues

@Suite struct RouterIdempotencyKeyTests {
  @Test(arguments: [
    ("s", nil, "k", "s/k"), ("s", "o", "k", "s/o/k"), ("s", "", "k", "s//k"),
    ("s/o", nil, "k", "s%2Fo/k"), ("s", nil, "o/k", "s/o%2Fk"), ("s", nil, "%2F", "s/%252F"),
    ("s", nil, "é", "s/é"), ("s", nil, "e\u{301}", "s/e\u{301}"),
  ])
  func `its description is unique`(session: String, owner: String?, text: String, expected: String)
  {
    let key = RouterIdempotencyKey(session: session, owner: owner, text: text)
    #expect(key.description.isSameUTF8(as: expected))
  }

  @Test func `compares keys by bytes`() {
    let keys: Set = [
      RouterIdempotencyKey(session: "s", text: "é"),
      RouterIdempotencyKey(session: "s", text: "e\u{301}"),
      RouterIdempotencyKey(session: "s", owner: "", text: "é"),
      RouterIdempotencyKey(session: "s", text: "é"),
    ]
    #expect(keys.count == 3)
  }

  @Test func `a call keeps the key that it was given`() throws {
    let uri = try RouteURI("x://r")
    let key = RouterIdempotencyKey(session: "s", owner: "o", text: "k")
    let keyed = Call(
      uri: uri, params: [:], exts: [:], navigator: StubNavigator(), deadline: nil, key: key,
      progress: { _ in })
    #expect(keyed.key == key)
    #expect(Call(uri: uri, params: [:], exts: [:], navigator: StubNavigator()).key == nil)
  }
}
