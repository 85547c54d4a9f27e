import WayCrypto
import WaySession

/// Opens the messages of other servers, and rejects those that no server of the cluster has sent to
/// this one just now. Pure: ``NATSMessenger`` acts.
struct PeerMessageOpener {
  /// How much the time of a message may differ from this server's wall clock, in milliseconds.
  static let maxTimeDifference: UInt64 = 300_000
  /// How many senders are remembered. Only holders of a secret can become one.
  static let maxSenders = 10_000

  private struct MessageSender {
    let salt: [UInt8]
    let cipher: MessageCipher
    /// The number of the first message to this server, 0 before it. No such message is older than
    /// this server, whose name is unique. So no message to all servers with a greater number is.
    var firstDirect: UInt64 = 0
    /// The numbers of the last messages to this server, and to all servers. The two kinds can
    /// overtake one another.
    var lastDirect: UInt64 = 0
    var lastBroadcast: UInt64 = 0
    var lastSeen: UInt64 = 0
  }

  /// A sender with one of the secrets.
  private struct SenderKey: Hashable {
    let name: String
    let secret: [UInt8]
  }

  /// The secrets that open messages; nil if none is sealed.
  var secrets: NATSClusterSecrets?
  private let names: NATSClusterNames
  private var senders: [SenderKey: MessageSender] = [:]

  /// Creates an opener. Without secrets it accepts messages as they are.
  init(_ secrets: NATSClusterSecrets?, _ names: NATSClusterNames) {
    self.secrets = secrets
    self.names = names
  }

  /// Returns the content of a message that has arrived on a subject. `now` is in milliseconds since
  /// 1970-01-01 UTC. Throws if the message is rejected.
  mutating func open(
    _ bytes: [UInt8], on subject: String, at now: UInt64
  ) throws(PeerMessageRejection) -> [UInt8] {
    guard let secrets else {
      if bytes.first == PeerMessageHeader.form { throw .sealed }
      return bytes
    }
    var reader = ByteReader(bytes)
    let header: PeerMessageHeader
    do throws(ByteDecodingError) { header = try PeerMessageHeader(&reader) } catch {
      throw .notSealed
    }
    guard let secret = secrets.secret(withID: header.secret) else { throw .unknownSecret }
    let key = SenderKey(name: header.sender, secret: header.secret)
    guard
      let cipher = senders[key]?.cipher
        ?? secret.cipher(forMessagesOf: header.sender, in: names.cluster),
      let message = cipher.open(
        reader.remaining, nonce: header.nonce,
        context: Array(bytes.dropLast(reader.remaining.count)) + Array(subject.utf8))
    else { throw .forged }
    guard max(header.time, now) - min(header.time, now) <= Self.maxTimeDifference else {
      throw .wrongTime(
        sender: header.sender, difference: Int64(clamping: header.time) - Int64(clamping: now))
    }
    try record(header, cipher, key, isBroadcast: subject == names.broadcastSubject, at: now)
    return message
  }

  private mutating func record(
    _ header: PeerMessageHeader, _ cipher: MessageCipher, _ key: SenderKey, isBroadcast: Bool,
    at now: UInt64
  ) throws(PeerMessageRejection) {
    var sender = senders[key] ?? MessageSender(salt: header.salt, cipher: cipher)
    let last = isBroadcast ? sender.lastBroadcast : sender.lastDirect
    guard header.number > last, header.salt == sender.salt else {
      throw .repeated(sender: header.sender)
    }
    if isBroadcast {
      guard sender.firstDirect > 0, header.number > sender.firstDirect else {
        throw .unconfirmed(sender: header.sender)
      }
      sender.lastBroadcast = header.number
    } else {
      if sender.firstDirect == 0 { sender.firstDirect = header.number }
      sender.lastDirect = header.number
    }
    sender.lastSeen = now
    if senders.count >= Self.maxSenders, senders[key] == nil,
      let oldest = senders.min(by: { $0.value.lastSeen < $1.value.lastSeen })?.key
    {
      senders[oldest] = nil
    }
    senders[key] = sender
  }
}
