import WayCrypto
import WaySession

/// Encrypts and decrypts the messages of session logs, if the cluster has a secret.
///
/// A sealed message has a form, the id of the secret, a nonce and the encrypted entry. The seal also
/// authenticates the subject, which names the cluster and the session, and the number of the message
/// that this one was written after. So an entry can be read only after that message, or as the first
/// one of its log.
struct JetStreamSessionLogCipher: Sendable {
  /// The first byte of a sealed message. No message of ``JetStreamSessionLogEntry`` begins with it.
  static let form: UInt8 = 2
  /// By how many bytes a sealed message is longer than its entry.
  static let overhead =
    1 + NATSClusterSecrets.idLength + MessageCipher.nonceLength + MessageCipher.tagLength

  private let secretFile: NATSClusterSecretFile?

  /// Creates a cipher. Without a secret, messages are stored as they are.
  init(_ secretFile: NATSClusterSecretFile?) { self.secretFile = secretFile }

  /// Returns the message for an entry of the log on a subject, to be written after the message with
  /// the number `after`. Returns nil if memory is short.
  func seal(_ entry: [UInt8], on subject: String, after: UInt64) -> [UInt8]? {
    guard let secretFile else { return entry }
    guard let secret = secretFile.secrets.first,
      let cipher = secret.cipher(forSessionLogOn: subject)
    else { return nil }
    // Each session has a key of its own, and far fewer messages than nonces that may be random.
    let nonce = MessageCipher.randomBytes(MessageCipher.nonceLength)
    return cipher.seal(entry, nonce: nonce, context: Self.context(subject, after)).map {
      [Self.form] + secret.id + nonce + $0
    }
  }

  /// Returns the entry in a message of a log. Throws if no server of the cluster has written it there.
  func open(
    _ message: NATSConnection.StreamMessage
  ) throws(ByteDecodingError) -> JetStreamSessionLogEntry {
    try open(message.bytes, on: message.subject, after: message.previousSequence)
  }

  /// Returns the entry in a message of the log on a subject. Throws if no server of the cluster has
  /// written it after the message with the number `after`, or if that is not known.
  func open(
    _ message: [UInt8], on subject: String, after: UInt64?
  ) throws(ByteDecodingError) -> JetStreamSessionLogEntry {
    guard let after else { throw ByteDecodingError("it does not name the message before it") }
    guard message.first == Self.form else {
      guard secretFile == nil else {
        throw ByteDecodingError("it is not encrypted, but this server has a cluster secret")
      }
      return try JetStreamSessionLogEntry(message)
    }
    guard let secretFile else {
      throw ByteDecodingError("it is encrypted, but this server has no cluster secret")
    }
    return try JetStreamSessionLogEntry(
      Self.open(message, on: subject, after: after, with: secretFile))
  }

  /// Returns the data in a message that ``seal(_:on:after:)`` has made. Throws if no server of the
  /// cluster has written it there.
  func openData(_ message: NATSConnection.StreamMessage) throws(ByteDecodingError) -> [UInt8] {
    guard let secretFile else { return message.bytes }
    guard let after = message.previousSequence, message.bytes.first == Self.form else {
      throw ByteDecodingError("it is not encrypted, but this server has a cluster secret")
    }
    return try Self.open(message.bytes, on: message.subject, after: after, with: secretFile)
  }

  /// Opens a sealed message.
  private static func open(
    _ message: [UInt8], on subject: String, after: UInt64, with secretFile: NATSClusterSecretFile
  ) throws(ByteDecodingError) -> [UInt8] {
    guard let secret = secretFile.secrets.secret(withID: secretID(of: message)) else {
      throw ByteDecodingError(
        "it is encrypted with another cluster secret (\(secretID(of: message).hex))")
    }
    let sealed = message.dropFirst(1 + NATSClusterSecrets.idLength)
    guard
      let entry = secret.cipher(forSessionLogOn: subject)?.open(
        sealed.dropFirst(MessageCipher.nonceLength),
        nonce: Array(sealed.prefix(MessageCipher.nonceLength)),
        context: context(subject, after))
    else { throw ByteDecodingError("it was changed, or is not at its place") }
    return entry
  }

  /// Whether a message is sealed with another secret than the one that seals messages now.
  func isOutdated(_ message: [UInt8]) -> Bool {
    guard let secret = secretFile?.secrets.first else { return false }
    return Self.secretID(of: message) != secret.id
  }

  private static func secretID(of message: [UInt8]) -> [UInt8] {
    Array(message.dropFirst().prefix(NATSClusterSecrets.idLength))
  }

  private static func context(_ subject: String, _ after: UInt64) -> [UInt8] {
    var writer = RecordByteWriter()
    writer.write(after)
    writer.write(rest: Array(subject.utf8))
    return writer.bytes
  }
}
