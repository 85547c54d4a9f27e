import Waybridge

/// A file that keys are read from. It must be a regular file that nobody but its owner has access
/// to (mode 0600 or less), and belong to the user that reads it, or to root.
public struct TokenKeyFile: Sendable, Hashable {
  /// What a file holds.
  enum Content: Hashable {
    case secret(id: String?)
    case publicKeys
  }

  /// The most bytes of a file.
  static let maxLength = 64 << 10

  /// Where the file is.
  public let path: String
  private let content: Content

  /// A file that is one secret, shared with who makes the tokens (HS256): at least 32 bytes of any
  /// kind. A line end after them does not count.
  ///
  /// - Parameters:
  ///   - path: where the file is.
  ///   - id: what a token's `kid` names it by, 1 to 256 bytes; nil where the secret is to serve
  ///     whatever a token names.
  public static func secret(_ path: String, id: String? = nil) -> TokenKeyFile {
    TokenKeyFile(path: path, content: .secret(id: id))
  }

  /// A file of one or several public keys for EdDSA on the curve Ed25519, each as PEM
  /// (`-----BEGIN PUBLIC KEY-----`, RFC 7468 §13).
  ///
  /// A line `kid: NAME` before a key names it; one without such a line serves whatever a token
  /// names. Other lines between the keys are ignored.
  public static func publicKeys(_ path: String) -> TokenKeyFile {
    TokenKeyFile(path: path, content: .publicKeys)
  }

  /// The file, to be read now and watched later.
  var watched: WatchedFile { WatchedFile(path, limit: Self.maxLength, isPrivate: true) }

  /// `secret` or `key`, as messages call the file.
  var kind: String {
    switch content {
    case .secret: "secret"
    case .publicKeys: "key"
    }
  }

  /// The keys that are in what the file holds.
  func keys(in bytes: [UInt8]) throws(FileFault) -> [TokenKey] {
    switch content {
    case .secret(let id): [try secretKey(in: bytes, id: id)]
    case .publicKeys: try publicKeys(bytes)
    }
  }

  /// The key that a file of a secret holds.
  func secretKey(in bytes: [UInt8], id: String?) throws(FileFault) -> TokenKey {
    var secret = bytes[...]
    if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
    if secret.last == UInt8(ascii: "\r"), secret.count < bytes.count { secret.removeLast() }
    // A public key as the secret would let everybody who has it sign.
    guard !secret.starts(with: "-----BEGIN ".utf8) else {
      throw fault("holds a key in PEM, which is no secret that both sides share")
    }
    guard secret.count >= TokenKey.minSecret else {
      throw fault(
        "holds \(secret.count) bytes, and a secret has at least \(TokenKey.minSecret): "
          + "openssl rand -base64 48 > \(path)")
    }
    return TokenKey(secret: Array(secret), id: id)
  }

  private func publicKeys(_ bytes: [UInt8]) throws(FileFault) -> [TokenKey] {
    var keys: [TokenKey] = []
    for block in try PEMBlock.all(in: bytes, of: path) {
      guard !block.isPrivate else {
        throw fault(
          "holds a private key, which stays with who makes the tokens; the server has the public "
            + "one: openssl pkey -in \(path) -pubout")
      }
      guard block.label == "PUBLIC KEY",
        let key = TokenKey(publicPEM: block.text, id: block.id)
      else { throw fault("holds something else than public keys for Ed25519, as PEM") }
      keys.append(key)
    }
    guard !keys.isEmpty else { throw fault("holds no public key (-----BEGIN PUBLIC KEY-----)") }
    return keys
  }

  private func fault(_ reason: String) -> FileFault { FileFault(path: path, reason: reason) }
}
