import Testing
import WayCrypto

struct MessageCipherTests {
  private static let key = [UInt8](repeating: 7, count: 32)
  private static let nonce = [UInt8](0..<12)

  /// Test case 14 of the GCM specification (McGrew and Viega, appendix B).
  @Test func sealMatchesTheStandard() throws {
    let cipher = try #require(MessageCipher(key: [UInt8](repeating: 0, count: 32)))
    let sealed = try #require(
      cipher.seal(
        [UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 12), context: []))
    #expect(
      sealed.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        == "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
  }

  @Test(arguments: [0, 1, 15, 16, 17, 100_000])
  func messageOfAnyLengthRoundTrips(_ count: Int) throws {
    let cipher = try #require(MessageCipher(key: Self.key))
    let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let sealed = try #require(cipher.seal(message, nonce: Self.nonce, context: [1, 2]))
    #expect(sealed.count == count + MessageCipher.tagLength)
    #expect(cipher.open(sealed[...], nonce: Self.nonce, context: [1, 2]) == message)
  }

  @Test func anyChangeIsNoticed() throws {
    let cipher = try #require(MessageCipher(key: Self.key))
    let sealed = try #require(cipher.seal([1, 2, 3], nonce: Self.nonce, context: [9]))
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(cipher.open(changed[...], nonce: Self.nonce, context: [9]) == nil)
    }
    #expect(cipher.open(sealed.dropLast(), nonce: Self.nonce, context: [9]) == nil)
    #expect(cipher.open([], nonce: Self.nonce, context: [9]) == nil)
    #expect(cipher.open(sealed[...], nonce: Self.nonce, context: [8]) == nil)
    #expect(cipher.open(sealed[...], nonce: [UInt8](repeating: 0, count: 12), context: [9]) == nil)
    let other = try #require(MessageCipher(key: [UInt8](repeating: 8, count: 32)))
    #expect(other.open(sealed[...], nonce: Self.nonce, context: [9]) == nil)
  }

  @Test func wrongLengthsAreRejected() throws {
    #expect(MessageCipher(key: [1]) == nil)
    let cipher = try #require(MessageCipher(key: Self.key))
    #expect(cipher.seal([1], nonce: [1], context: []) == nil)
    #expect(cipher.open([UInt8](repeating: 0, count: 20)[...], nonce: [1], context: []) == nil)
  }
}
