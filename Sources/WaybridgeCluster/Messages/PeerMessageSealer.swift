import WayCrypto

/// Encrypts and authenticates the messages of one server to the others of its cluster.
struct PeerMessageSealer {
  private var secret: [UInt8]
  private var cipher: MessageCipher
  private let cluster: String
  private let sender: String
  private let salt: [UInt8]
  private var lastNumber: UInt64 = 0

  /// Creates a sealer for the messages of `sender`; nil if there is no secret, or memory is short.
  init?(_ secrets: NATSClusterSecrets, cluster: String, sender: String) {
    guard let secret = secrets.first,
      let cipher = secret.cipher(forMessagesOf: sender, in: cluster)
    else { return nil }
    self.secret = secret.id
    self.cipher = cipher
    self.cluster = cluster
    self.sender = sender
    salt = MessageCipher.randomBytes(PeerMessageHeader.saltLength)
  }

  /// Uses the first of other secrets from now on; the numbers of messages continue. Returns false,
  /// with nothing changed, if memory is short.
  mutating func use(_ secrets: NATSClusterSecrets) -> Bool {
    guard let secret = secrets.first,
      let cipher = secret.cipher(forMessagesOf: sender, in: cluster)
    else { return false }
    (self.secret, self.cipher) = (secret.id, cipher)
    return true
  }

  /// Seals a message for a subject. `time` is in milliseconds since 1970-01-01 UTC. Returns nil if
  /// memory is short.
  mutating func seal(_ message: [UInt8], for subject: String, at time: UInt64) -> [UInt8]? {
    lastNumber += 1
    let header = PeerMessageHeader(
      secret: secret, salt: salt, number: lastNumber, time: time, sender: sender)
    let bytes = header.bytes
    return cipher.seal(message, nonce: header.nonce, context: bytes + Array(subject.utf8)).map {
      bytes + $0
    }
  }
}
