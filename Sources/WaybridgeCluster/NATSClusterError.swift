import CWayNATS

/// The error if NATS with JetStream cannot be used: its address, what is
/// wrong, and what to do about it.
public struct NATSClusterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The address of NATS, without user and password.
  public let endpoint: String
  /// The problem, in the words of NATS if it has reported an error.
  public let reason: String
  /// The remedy for the operator of the server; nil if it is unknown.
  public let advice: String?
  /// JetStream's own code of the error (`err_code`); nil if it has reported none.
  public let code: Int?

  init(_ endpoint: String, _ reason: String, advice: String? = nil, code: Int? = nil) {
    self.endpoint = endpoint
    self.reason = reason
    self.advice = advice ?? code.flatMap { Self.adviceByCode[$0] }
    self.code = code
  }

  /// Creates the error for a status of the library (natsStatus), with JetStream's code if there is
  /// one (jsErrCode).
  init(
    _ endpoint: String, _ operation: String, _ status: natsStatus, _ code: jsErrCode = jsErrCode(0)
  ) {
    let code = Int(code.rawValue)
    let message =
      switch status {
      // The status of the library if messages may not wait for a reconnection.
      case NATS_INSUFFICIENT_BUFFER, NATS_CONNECTION_DISCONNECTED: "the connection is lost"
      default:
        natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
      }
    self.init(
      endpoint, "\(operation): \(message)\(code > 0 ? " (JetStream \(code))" : "")",
      advice: Self.advice(status), code: code > 0 ? code : nil)
  }

  /// A sentence with the address, what is wrong and what to do.
  public var description: String {
    "\(endpoint) cannot be used: \(reason)" + (advice.map { "; \($0)" } ?? "")
  }

  private static func advice(_ status: natsStatus) -> String? {
    switch status {
    case NATS_NO_SERVER: "start nats-server there, or choose another address"
    case NATS_NO_RESPONDERS: jetStreamAdvice
    case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
      "use a user and password with the permissions (nats://USER:PASSWORD@HOST:PORT), or a "
        + "credentials file"
    case NATS_SSL_ERROR:
      "use a tls:// address whose host is in the certificate, and the file of its authority"
    default: nil
    }
  }

  /// What to do about a session whose log cannot be read.
  static func advice(toRead session: String, _ names: NATSClusterNames) -> String {
    "run the version that wrote it, or \(deletionAdvice(session, names))"
  }

  /// How to delete the stored data of a session. A purge must not be used
  /// (`NATSConnection.delete`).
  static func deletionAdvice(_ session: String, _ names: NATSClusterNames) -> String {
    "delete the messages of the subject \(names.sessionSubject(of: session)) by their numbers, "
      + "oldest first (nats stream rmm \(names.sessionStream) NUMBER)"
  }

  static let jetStreamAdvice = "start nats-server with JetStream (-js, and -sd FOLDER for its disk)"

  // https://github.com/nats-io/nats-server/blob/main/server/errors.json
  private static let adviceByCode = [
    10005: "start more nats-servers, or use fewer replicas",
    10023: "free space on its disk, or raise max_file_store",
    10028: "raise the limits of its account",
    10039: jetStreamAdvice,
    10047: "free space on its disk, or raise max_file_store",
    10074: "start more nats-servers, or use fewer replicas",
    10076: jetStreamAdvice,
    10077: "raise max_bytes of the stream, or end sessions",
  ]
}
