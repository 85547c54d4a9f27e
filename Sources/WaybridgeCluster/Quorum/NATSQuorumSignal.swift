/// A message by which a server shows that a NATS server passes on its messages.
struct NATSQuorumSignal: Sendable, Hashable {
  /// The maximum length in bytes.
  private static let maxLength = 1024

  /// The server that has sent it.
  let server: String
  /// The id of the NATS server that it was sent to.
  let natsServer: String
  /// Distinguishes the signals of one connection.
  let number: UInt64
  /// Whether the server relies on its lease. Otherwise the signal only tests the connection.
  let isLeaseHolder: Bool

  init(server: String, natsServer: String, number: UInt64, isLeaseHolder: Bool) {
    self.server = server
    self.natsServer = natsServer
    self.number = number
    self.isLeaseHolder = isLeaseHolder
  }

  /// The form in NATS.
  var bytes: [UInt8] {
    Array("\(isLeaseHolder ? "lease" : "test") \(number) \(natsServer) \(server)".utf8)
  }

  /// Parses the form in NATS; nil if it is invalid.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.maxLength, let text = String(validating: bytes, as: UTF8.self) else {
      return nil
    }
    let parts = text.split(separator: " ", maxSplits: 3)
    guard parts.count == 4, let number = UInt64(parts[1]),
      parts[0] == "lease" || parts[0] == "test"
    else { return nil }
    self.init(
      server: String(parts[3]), natsServer: String(parts[2]), number: number,
      isLeaseHolder: parts[0] == "lease")
  }
}
