import CWayNATS

/// Why the engine that servers share, NATS with JetStream, cannot be used: where it is, what is
/// wrong, and what to do about it.
public struct NATSClusterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The engine's address, without user and password.
  public let place: String
  /// What is wrong, in the engine's words where it has said something.
  public let reason: String
  /// What whoever runs the server can do; nil where that is not known.
  public let advice: String?
  /// JetStream's own code of the error (`err_code`); nil where it has refused nothing.
  public let code: Int?

  init(_ place: String, _ reason: String, advice: String? = nil, code: Int? = nil) {
    self.place = place
    self.reason = reason
    self.advice = advice ?? code.flatMap { Self.advice[$0] }
    self.code = code
  }

  /// What the library refuses (natsStatus), and JetStream where it says more (jsErrCode).
  init(_ place: String, _ what: String, _ status: natsStatus, _ code: jsErrCode = jsErrCode(0)) {
    let code = Int(code.rawValue)
    let said =
      switch status {
      // What the library says where nothing may wait for a connection to come back.
      case NATS_INSUFFICIENT_BUFFER, NATS_CONNECTION_DISCONNECTED: "the connection is lost"
      default:
        natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
      }
    self.init(
      place, "\(what): \(said)\(code > 0 ? " (JetStream \(code))" : "")",
      advice: Self.advice(status), code: code > 0 ? code : nil)
  }

  /// A sentence with the place, what is wrong and what to do.
  public var description: String {
    "\(place) cannot be used: \(reason)" + (advice.map { "; \($0)" } ?? "")
  }

  private static func advice(_ status: natsStatus) -> String? {
    switch status {
    case NATS_NO_SERVER: "start nats-server there, or name another place"
    case NATS_NO_RESPONDERS: noJetStream
    case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
      "give a user and a password that may (nats://USER:PASSWORD@HOST:PORT)"
    default: nil
    }
  }

  /// What to do about a session whose log cannot be read.
  static func advice(toRead session: String) -> String {
    "run the version that has written it, or \(toForget(session))"
  }

  /// How to do without what is kept of a session. A purge is none (`NATSConnection.delete`).
  static func toForget(_ session: String) -> String {
    "delete the messages of the subject \(Subject.of(session)) by their numbers, oldest first "
      + "(nats stream rmm \(OwnedLogs.stream) NUMBER)"
  }

  static let noJetStream = "start nats-server with JetStream (-js, and -sd FOLDER for its disk)"

  // https://github.com/nats-io/nats-server/blob/main/server/errors.json
  private static let advice = [
    10005: "there are fewer engines than the replicas that are asked for",
    10023: "make room on its disk, or raise max_file_store",
    10028: "raise the limits of its account",
    10039: noJetStream,
    10047: "make room on its disk, or raise max_file_store",
    10074: "there are fewer engines than the replicas that are asked for",
    10076: noJetStream,
    10077: "raise max_bytes of the stream, or have sessions end",
  ]
}
