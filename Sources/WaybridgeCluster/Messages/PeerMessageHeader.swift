import WayCrypto
import WaySession

/// The readable beginning of a sealed message. The seal authenticates it together with the subject
/// of the message, which contains the names of the cluster and of the receiver.
struct PeerMessageHeader {
  /// The first byte of a sealed message. No message of ``ClusterEnvelope`` begins with it.
  static let form: UInt8 = 0xA1
  /// By how many bytes a sealed message is longer than the message and its sender's name.
  static let overhead =
    1 + NATSClusterSecrets.idLength + saltLength + 3 * 8 + MessageCipher.tagLength
  /// The length of the random part of nonces, in bytes.
  static let saltLength = MessageCipher.nonceLength - 8

  /// The id of the secret that has sealed the message.
  let secret: [UInt8]
  /// The random part of the nonces of one sender.
  let salt: [UInt8]
  /// The number of the message among all that its sender has sealed.
  let number: UInt64
  /// The sender's wall clock, in milliseconds since 1970-01-01 UTC.
  let time: UInt64
  let sender: String

  /// A value that no other message with the same key has.
  var nonce: [UInt8] {
    var writer = RecordByteWriter()
    writer.write(rest: salt)
    writer.write(number)
    return writer.bytes
  }

  var bytes: [UInt8] {
    var writer = RecordByteWriter()
    writer.write(byte: Self.form)
    writer.write(rest: secret)
    writer.write(rest: salt)
    writer.write(number)
    writer.write(time)
    writer.write(sender)
    return writer.bytes
  }

  init(secret: [UInt8], salt: [UInt8], number: UInt64, time: UInt64, sender: String) {
    self.secret = secret
    self.salt = salt
    self.number = number
    self.time = time
    self.sender = sender
  }

  /// Reads a header. Throws if the bytes do not begin with one.
  init(_ reader: inout ByteReader) throws(ByteDecodingError) {
    func read(_ count: Int) throws(ByteDecodingError) -> [UInt8] {
      var bytes: [UInt8] = []
      for _ in 0..<count { bytes.append(try reader.byte()) }
      return bytes
    }
    guard try reader.byte() == Self.form else { throw ByteDecodingError("it is not sealed") }
    secret = try read(NATSClusterSecrets.idLength)
    salt = try read(Self.saltLength)
    number = try reader.number()
    time = try reader.number()
    sender = try reader.string()
  }
}
