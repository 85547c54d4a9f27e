/// The reason why a message of another server is rejected.
enum PeerMessageRejection: Error, Hashable, CustomStringConvertible {
  /// This server has a secret, and the message was not sealed with one.
  case notSealed
  /// This server has no secret, and the message was sealed with one.
  case sealed
  case unknownSecret
  /// No holder of the secret has sent the message in this cluster to this server.
  case forged
  /// The clocks differ, or the message is old. The difference is in milliseconds.
  case wrongTime(sender: String, difference: Int64)
  /// The message, or a later one of its sender, has arrived before.
  case repeated(sender: String)
  /// The message is for all servers, and may be older than this server. It is certain for later ones
  /// when the sender has sent a message to this server.
  case unconfirmed(sender: String)

  var description: String {
    switch self {
    case .notSealed:
      "it is not sealed, but this server has a cluster secret; use the same secret file on all "
        + "servers"
    case .sealed:
      "it is sealed, but this server has no cluster secret; use the same secret file on all servers"
    case .unknownSecret:
      "it is sealed with another secret; use the same secret file on all servers"
    case .forged: "its seal is wrong: it was changed, or is not for this server"
    case .wrongTime(let sender, let difference):
      "its time differs by \(difference / 1000) s; set the clocks of this server and of \(sender)"
    case .repeated(let sender):
      "it is a repetition, or later messages of \(sender) have overtaken it"
    case .unconfirmed(let sender):
      "\(sender) may have sent it before this server started"
    }
  }
}
