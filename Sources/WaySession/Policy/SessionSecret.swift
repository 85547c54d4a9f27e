/// Unguessable strings for tokens and identifiers.
package enum SessionSecret {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Returns a string with 6 random bits a character, from the system's cryptographic generator. 22
  /// characters hold 132 bits.
  package static func random(_ characters: Int = 22) -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<characters).map { _ in
      alphabet[Int(generator.next() as UInt64 >> 58)]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Compares in a time that does not reveal where the strings differ.
  static func areEqual(_ left: String, _ right: String) -> Bool {
    var difference: UInt8 = left.utf8.count == right.utf8.count ? 0 : 1
    for (a, b) in zip(left.utf8, right.utf8) { difference |= a ^ b }
    return difference == 0
  }
}
