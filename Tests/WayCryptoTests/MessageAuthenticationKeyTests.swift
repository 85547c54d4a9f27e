import Testing
import WayCrypto

struct MessageAuthenticationKeyTests {
  // RFC 4231 §4.2, §4.3 and §4.7.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func codeMatchesTheStandard(_ key: [UInt8], _ message: String, _ code: String) throws {
    let key = MessageAuthenticationKey(key)
    let bytes = try #require(key.code(of: Array(message.utf8)))
    #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == code)
    #expect(key.verifies(bytes, of: Array(message.utf8)))
    #expect(!key.verifies(bytes, of: Array("another".utf8)))
    #expect(!key.verifies(Array(bytes.dropLast()), of: Array(message.utf8)))
    #expect(!MessageAuthenticationKey([1]).verifies(bytes, of: Array(message.utf8)))
  }
}
