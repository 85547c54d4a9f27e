import Waybridge

/// A file with keys. It must be a regular file that only its owner can access (mode 0600 or less),
/// and belong to the user that reads it, or to root.
public struct TokenKeyFile: Sendable, Hashable {
  /// The content of a file.
  enum KeyFileContent: Hashable {
    case secret(id: String?)
    case publicKeys
  }

  /// The largest size of a file in bytes.
  static let maxLength = 64 << 10

  /// The file's path.
  public let path: String
  private let content: KeyFileContent

  /// A file with one secret, shared with the issuer of the tokens (HS256): at least 32 bytes of any
  /// kind. A line ending after them is ignored.
  ///
  /// - Parameters:
  ///   - path: the file's path.
  ///   - id: the id in a token's `kid`, 1 to 256 bytes; nil if the secret applies to any token.
  public static func secret(_ path: String, id: String? = nil) -> TokenKeyFile {
    TokenKeyFile(path: path, content: .secret(id: id))
  }

  /// A file with one or several public keys for EdDSA on the curve Ed25519, each as PEM
  /// (`-----BEGIN PUBLIC KEY-----`, RFC 7468 §13).
  ///
  /// A line `kid: NAME` before a key sets its id; a key without such a line applies to any token.
  /// Other lines between the keys are ignored.
  public static func publicKeys(_ path: String) -> TokenKeyFile {
    TokenKeyFile(path: path, content: .publicKeys)
  }

  /// The file, to be read now and watched later.
  var watchedFile: WatchedFile { WatchedFile(path, limit: Self.maxLength, isPrivate: true) }

  /// The kind of file for messages: `secret` or `key`.
  var kind: String {
    switch content {
    case .secret: "secret"
    case .publicKeys: "key"
    }
  }

  /// Parses the keys in the file's content.
  func keys(in bytes: [UInt8]) throws(FileError) -> [TokenKey] {
    switch content {
    case .secret(let id): [try secretKey(in: bytes, id: id)]
    case .publicKeys: try publicKeys(bytes)
    }
  }

  /// Parses the key in the content of a secret file.
  func secretKey(in bytes: [UInt8], id: String?) throws(FileError) -> TokenKey {
    var secret = bytes[...]
    if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
    if secret.last == UInt8(ascii: "\r"), secret.count < bytes.count { secret.removeLast() }
    return TokenKey(secret: try SharedSecret(secret, of: path).bytes, id: id)
  }

  private func publicKeys(_ bytes: [UInt8]) throws(FileError) -> [TokenKey] {
    var keys: [TokenKey] = []
    for block in try PEMBlock.all(in: bytes, of: path) {
      guard !block.isPrivate else {
        throw fileError(
          "holds a private key, which only the issuer of tokens needs; give the server the public "
            + "one: openssl pkey -in \(path) -pubout")
      }
      guard block.label == "PUBLIC KEY",
        let key = TokenKey(publicPEM: block.text, id: block.id)
      else { throw fileError("holds something other than public keys for Ed25519 in PEM format") }
      keys.append(key)
    }
    guard !keys.isEmpty else { throw fileError("holds no public key (-----BEGIN PUBLIC KEY-----)") }
    return keys
  }

  private func fileError(_ reason: String) -> FileError { FileError(path: path, reason: reason) }
}
