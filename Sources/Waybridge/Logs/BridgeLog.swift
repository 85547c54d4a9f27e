import Logging
import WaySession
import WayTransport

/// Writes what happens in a bridge to the app's logger.
struct BridgeLog: Sendable {
  let logger: Logger
  private let warnings = LogThrottle()

  init(_ logger: Logger) {
    self.logger = logger
  }

  /// Calls are told only where the logger's level is `debug` by now: asking it each time would cost
  /// every call.
  var observer: Observer {
    var observer = Observer()
    if logger.logLevel <= .debug { observer.kinds.insert(.call) }
    observer.tell = tell
    observer.refused = refused
    observer.tokenRefused = tokenRefused
    observer.storeChanged = storeChanged
    return observer
  }

  /// An HTTP request was refused.
  func refused(_ status: Int, _ reason: String, _ hint: String?) {
    let reason = reason + (hint.map { "; " + $0 } ?? "")
    warn("request refused", ["status": .stringConvertible(status), "reason": reason.logged])
  }

  @Sendable private func refused(_ code: CloseCode, _ reason: String) {
    warn(
      "connection refused", ["code": .stringConvertible(code.rawValue), "reason": reason.logged])
  }

  @Sendable private func tokenRefused(_ reason: String) {
    warn("token refused", ["reason": reason.logged])
  }

  @Sendable private func storeChanged(_ failure: String?) {
    guard let failure else {
      return logger.notice("sessions are kept again")
    }
    logger.error(
      "sessions are not kept until the store can be written again",
      metadata: ["reason": failure.logged])
  }

  @Sendable private func tell(_ session: String, _ happening: Happening) {
    switch happening {
    case .joined(let client, let name, let version, let isFirst):
      if isFirst { logger.info("session opened", metadata: ["session": .string(session)]) }
      logger.info(
        "client joined",
        metadata: [
          "session": .string(session), "client": .string(client), "name": (name ?? "").logged,
          "version": (version ?? "").logged,
        ])
    case .left(let client, let code):
      let metadata: Logger.Metadata = [
        "session": .string(session), "client": .string(client),
        "code": .string(code.map(String.init) ?? "none"),
      ]
      if code == CloseCode.slowConsumer.rawValue {
        warn("slow consumer closed", metadata)
      } else {
        logger.info("client left", metadata: metadata)
      }
    case .away(let client, let code):
      let metadata: Logger.Metadata = [
        "session": .string(session), "client": .string(client),
        "code": .string(code.map(String.init) ?? "none"),
      ]
      if code == CloseCode.slowConsumer.rawValue {
        warn("slow consumer closed: it may resume", metadata)
      } else {
        logger.info("client lost its connection", metadata: metadata)
      }
    case .back(let client):
      logger.info(
        "client resumed", metadata: ["session": .string(session), "client": .string(client)])
    case .gaveUp(let client):
      warn(
        "client given up: more waited for it than may",
        ["session": .string(session), "client": .string(client)])
    case .restored:
      logger.info("session goes on after a restart", metadata: ["session": .string(session)])
    case .unreadable(let reason):
      logger.error(
        "session cannot be read: it stays in the store, and its clients begin anew",
        metadata: ["session": .string(session), "reason": reason.logged])
    case .notRestored(let client, let reason):
      warn(
        "client goes on without all that it had declared",
        ["session": .string(session), "client": .string(client), "reason": reason.logged])
    case .takenOver:
      warn("another server has taken the session over", ["session": .string(session)])
    case .handedOver:
      logger.info("session handed over", metadata: ["session": .string(session)])
    case .ended: logger.info("session closed", metadata: ["session": .string(session)])
    case .hostSilent(let client, let method):
      warn(
        "host did not answer in time",
        ["session": .string(session), "client": .string(client), "method": .string(method)])
    case .threw(let number, let error):
      warn(
        "task failed",
        [
          "session": .string(session), "number": .stringConvertible(number),
          "error": "\(error)".logged,
        ])
    case .called(let call): tell(session, call)
    case .pageAsked, .pageOpened, .pageResumed, .pageClosed, .pageFailed, .taskStarted, .taskEnded,
      .taskDeclined, .handlerAnswered, .routeFailed, .attemptFailed:
      break
    }
  }

  private func tell(_ session: String, _ call: CallRecord) {
    var metadata: Logger.Metadata = [
      "session": .string(session), "client": .string(call.client),
      "id": "\(call.id)".logged, "method": call.method.logged,
      "code": .stringConvertible(call.code),
      "ms": .stringConvertible(Double(call.nanoseconds / 1_000) / 1_000),
    ]
    // A query may hold what no log should.
    if let uri = call.uri?.prefix(while: { $0 != "?" && $0 != "#" }) {
      metadata["uri"] = String(uri).logged
    }
    logger.debug("call", metadata: metadata)
  }

  /// Peers choose how often they are refused.
  private func warn(_ message: Logger.Message, _ metadata: @autoclosure () -> Logger.Metadata) {
    switch warnings.pass() {
    case .leaveOut: break
    case .take(let leftOut):
      if leftOut > 0 {
        logger.warning("warnings left out", metadata: ["count": .stringConvertible(leftOut)])
      }
      logger.warning(message, metadata: metadata())
    }
  }
}
