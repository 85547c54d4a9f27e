/// A file that is part of the program.
package struct HTTPEmbeddedFile: Sendable {
  let bytes: [UInt8]
  let contentType: String
  /// Changes whenever the bytes do (RFC 9110 §8.8.3), quotation marks included.
  let entityTag: String

  /// The name's ending tells the content type.
  package init(name: String, bytes: [UInt8]) {
    self.bytes = bytes
    contentType = ContentType.of(name)
    // FNV-1a
    let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    entityTag = "\"\(String(bytes.count, radix: 16))-\(String(hash, radix: 16))\""
  }
}
