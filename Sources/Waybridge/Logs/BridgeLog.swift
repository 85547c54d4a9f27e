import Logging
import WayPatterns
import WaySession
import WayTransport

/// Writes the events of a bridge to the app's logger.
struct BridgeLog: Sendable {
  let logger: Logger
  private let throttle = LogThrottle()

  init(_ logger: Logger) {
    self.logger = logger
  }

  /// The sink of the bridge's events. Calls are included only if the logger's level is `debug` at
  /// this time: checking it for each call would cost too much.
  var eventSink: EventSink {
    var sink = EventSink()
    if logger.logLevel <= .debug { sink.kinds.insert(.call) }
    sink.emit = logEvent
    sink.connectionRejected = logRejectedConnection
    sink.tokenRejected = logRejectedToken
    sink.storeChanged = logStoreChange
    return sink
  }

  /// Logs a rejected HTTP request.
  func logRejectedRequest(_ status: Int, _ reason: String, _ hint: String?) {
    let reason = reason + (hint.map { "; " + $0 } ?? "")
    warn("request rejected", ["status": .stringConvertible(status), "reason": reason.logValue])
  }

  @Sendable private func logRejectedConnection(_ code: CloseCode, _ reason: String) {
    warn(
      "connection rejected", ["code": .stringConvertible(code.rawValue), "reason": reason.logValue])
  }

  @Sendable private func logRejectedToken(_ reason: String) {
    warn("token rejected", ["reason": reason.logValue])
  }

  @Sendable private func logStoreChange(_ failure: String?) {
    guard let failure else {
      return logger.notice("sessions are persisted again")
    }
    logger.error(
      "sessions are not persisted, because the store cannot be written",
      metadata: ["reason": failure.logValue])
  }

  @Sendable private func logEvent(_ session: String, _ event: SessionEvent) {
    switch event {
    case .joined(let client, let name, let version, let isFirst):
      if isFirst { logger.info("session opened", metadata: ["session": .string(session)]) }
      logger.info(
        "client joined",
        metadata: [
          "session": .string(session), "client": .string(client), "name": (name ?? "").logValue,
          "version": (version ?? "").logValue,
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
    case .disconnected(let client, let code):
      let metadata: Logger.Metadata = [
        "session": .string(session), "client": .string(client),
        "code": .string(code.map(String.init) ?? "none"),
      ]
      if code == CloseCode.slowConsumer.rawValue {
        warn("slow consumer closed: it may resume", metadata)
      } else {
        logger.info("client lost its connection", metadata: metadata)
      }
    case .reconnected(let client):
      logger.info(
        "client resumed", metadata: ["session": .string(session), "client": .string(client)])
    case .discarded(let client):
      warn(
        "client discarded: too much data waited for it",
        ["session": .string(session), "client": .string(client)])
    case .restored:
      logger.info("session restored after a restart", metadata: ["session": .string(session)])
    case .unreadable(let reason):
      logger.error(
        "session cannot be read: it stays in the store, and its clients open a new session",
        metadata: ["session": .string(session), "reason": reason.logValue])
    case .restoreFailed(let client, let reason):
      warn(
        "client restored without all of its hosts and subscriptions",
        ["session": .string(session), "client": .string(client), "reason": reason.logValue])
    case .takenOver:
      warn("another server has taken over the session", ["session": .string(session)])
    case .handedOver:
      logger.info("session handed over", metadata: ["session": .string(session)])
    case .ended: logger.info("session closed", metadata: ["session": .string(session)])
    case .hostTimedOut(let client, let method):
      warn(
        "host did not answer in time",
        ["session": .string(session), "client": .string(client), "method": .string(method)])
    case .handlerThrew(let number, let error):
      warn(
        "task failed",
        [
          "session": .string(session), "number": .stringConvertible(number),
          "error": "\(error)".logValue,
        ])
    case .callEnded(let call): logCall(session, call)
    case .pageRequested, .pageOpened, .pageResumed, .pageClosed, .pageFailed, .taskStarted,
      .taskEnded,
      .taskDeclined, .handlerResponded, .routeFailed, .operationFailed:
      break
    }
  }

  private func logCall(_ session: String, _ call: CallRecord) {
    var metadata: Logger.Metadata = [
      "session": .string(session), "client": .string(call.client),
      "id": "\(call.id)".logValue, "method": call.method.logValue,
      "code": .stringConvertible(call.code),
      "ms": .stringConvertible(Double(call.nanoseconds / 1_000) / 1_000),
    ]
    // A query may contain data that does not belong in a log.
    if let uri = call.uri.map(RouteURI.normalForm(of:)) {
      metadata["uri"] = String(uri.prefix { $0 != "?" && $0 != "#" }).logValue
    }
    logger.debug("call", metadata: metadata)
  }

  /// Throttled, since clients control how often they are rejected.
  private func warn(_ message: Logger.Message, _ metadata: @autoclosure () -> Logger.Metadata) {
    switch throttle.decide() {
    case .suppress: break
    case .pass(let suppressed):
      if suppressed > 0 {
        logger.warning("warnings suppressed", metadata: ["count": .stringConvertible(suppressed)])
      }
      logger.warning(message, metadata: metadata())
    }
  }
}
