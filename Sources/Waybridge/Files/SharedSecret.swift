/// A secret from a file, which this server shares with another program.
package struct SharedSecret: Sendable, Hashable {
  /// The smallest length of a secret in bytes.
  package static let minLength = 32

  package let bytes: [UInt8]

  /// Checks the bytes of a secret in the file at `path`. Throws ``FileError`` if there are too few,
  /// or if they are a key.
  package init(_ bytes: ArraySlice<UInt8>, of path: String) throws(FileError) {
    // If a public key were the secret, everybody who has it could act as a holder of the secret.
    guard !bytes.starts(with: "-----BEGIN ".utf8) else {
      throw FileError(path: path, reason: "contains a PEM key instead of a shared secret")
    }
    guard bytes.count >= Self.minLength else {
      throw FileError(
        path: path,
        reason: "has a secret of \(bytes.count) bytes, but a secret needs at least "
          + "\(Self.minLength); run: openssl rand -base64 48 > \(path)")
    }
    self.bytes = Array(bytes)
  }
}
