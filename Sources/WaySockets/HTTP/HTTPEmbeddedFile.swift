/// A file that is part of the program.
package struct HTTPEmbeddedFile: Sendable {
  let bytes: [UInt8]
  /// The same, compressed with gzip; `nil` if the program has no compressed form.
  let gzipped: [UInt8]?
  let contentType: String
  /// Changes whenever the bytes do (RFC 9110 §8.8.3). Includes the quotation marks.
  let entityTag: String

  /// Derives the content type from the extension of `name`.
  package init(name: String, bytes: [UInt8], gzipped: [UInt8]? = nil) {
    self.bytes = bytes
    self.gzipped = gzipped
    contentType = ContentType.of(name)
    // FNV-1a hash.
    let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    entityTag = "\"\(String(bytes.count, radix: 16))-\(String(hash, radix: 16))\""
  }
}
