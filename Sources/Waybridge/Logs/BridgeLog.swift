import Logging
import WayPatterns
import WaySession
import WaySockets
import WayTransport

/// Writes the events and the audit records of a bridge to the app's logger. Each line about a client
/// has the fields `user`, `client`, `address` and `origin`, as far as they are known, and each field
/// always has the same JSON type.
struct BridgeLog: Sendable {
  let logger: Logger
  private let throttle = LogThrottle()

  init(_ logger: Logger) {
    self.logger = logger
  }

  /// The sink of the bridge's events. Calls and audit records are included only if the logger's
  /// level includes them at this time: checking it for each call would cost too much.
  var eventSink: EventSink {
    var sink = EventSink()
    if logger.logLevel <= .debug { sink.kinds.insert(.call) }
    sink.emit = logEvent
    sink.connectionRejected = logRejectedConnection
    sink.tokenRejected = logRejectedToken
    sink.peerMessageRejected = logRejectedPeerMessage
    sink.storeChanged = logStoreChange
    if logger.logLevel <= .notice { sink.audit = logRecord }
    return sink
  }

  /// Logs a rejected HTTP request.
  func logRejectedRequest(_ request: RejectedRequest) {
    let client = EventClient(address: request.address, origin: request.origin)
    warn("request rejected", from: client) { fields in
      fields.add("status", request.status)
      fields.add("reason", request.reason + (request.hint.map { "; " + $0 } ?? ""))
    }
  }

  @Sendable private func logRejectedConnection(
    _ code: CloseCode, _ reason: String, _ client: EventClient
  ) {
    warn("connection rejected", from: client) { fields in
      fields.add("code", Int(code.rawValue))
      fields.add("reason", reason)
    }
  }

  @Sendable private func logRejectedToken(_ reason: String, _ client: EventClient) {
    warn("token rejected", from: client) { $0.add("reason", reason) }
  }

  @Sendable private func logRejectedPeerMessage(_ reason: String) {
    warn("message of another server rejected", from: nil) { $0.add("reason", reason) }
  }

  @Sendable private func logStoreChange(_ failure: String?) {
    guard let failure else {
      return logger.notice("sessions are persisted again")
    }
    logger.error(
      "sessions are not persisted, because the store cannot be written",
      metadata: ["reason": failure.logValue])
  }

  @Sendable private func logRecord(_ record: AuditRecord) {
    logger.notice("audit", metadata: LogFields(record).metadata)
  }

  @Sendable private func logEvent(
    _ session: String, _ event: SessionEvent, _ client: EventClient?
  ) {
    // The fields of a line are only made if the logger's level includes it.
    func add(_ id: String?, _ code: UInt16? = nil, to fields: inout LogFields) {
      fields.add("session", session)
      fields.add("client", id)
      fields.add("code", code.map(Int.init))
    }
    func log(_ level: Logger.Level, _ message: Logger.Message, _ id: String?, _ code: UInt16? = nil)
    {
      logger.log(level: level, message, metadata: fields(client) { add(id, code, to: &$0) })
    }
    func warn(
      _ message: Logger.Message, _ id: String?, _ more: (inout LogFields) -> Void = { _ in }
    ) {
      self.warn(message, from: client) { fields in
        add(id, to: &fields)
        more(&fields)
      }
    }
    switch event {
    case .joined(let joined, let isFirst):
      if isFirst { logger.info("session opened", metadata: ["session": .string(session)]) }
      logger.info(
        "client joined",
        metadata: fields(client) { fields in
          add(joined.client, to: &fields)
          fields.add("version", joined.version)
        })
    case .left(let id, let code) where code == CloseCode.slowConsumer.rawValue:
      warn("slow consumer closed", id) { $0.add("code", code.map(Int.init)) }
    case .left(let id, let code): log(.info, "client left", id, code)
    case .disconnected(let id, let code) where code == CloseCode.slowConsumer.rawValue:
      warn("slow consumer closed: it may resume", id) { $0.add("code", code.map(Int.init)) }
    case .disconnected(let id, let code): log(.info, "client lost its connection", id, code)
    case .reconnected(let id): log(.info, "client resumed", id)
    case .discarded(let id): warn("client discarded: too much data waited for it", id)
    case .restored: log(.info, "session restored after a restart", nil)
    case .unreadable(let reason):
      logger.error(
        "session cannot be read: it stays in the store, and its clients open a new session",
        metadata: ["session": .string(session), "reason": reason.logValue])
    case .restoreFailed(let id, let reason):
      warn("client restored without all of its hosts and subscriptions", id) {
        $0.add("reason", reason)
      }
    case .takenOver: warn("another server has taken over the session", nil)
    case .handedOver: log(.info, "session handed over", nil)
    case .gateChanged(let change):
      logger.info(
        change.open ? "gate opened" : "gate closed",
        metadata: fields(client) { fields in
          add(nil, to: &fields)
          fields.add("gate", change.gate)
        })
    case .ended: log(.info, "session closed", nil)
    case .hostTimedOut(let id, let method):
      warn("host did not answer in time", id) { $0.add("method", method) }
    case .handlerThrew(let number, let error):
      warn("task failed", nil) { fields in
        fields.add("number", number)
        fields.add("error", "\(error)")
      }
    case .resultInvalid(let report):
      warn("result does not fit its declaration", report.host) { fields in
        fields.add("route", report.route)
        fields.add("method", report.method)
        fields.add("uri", RouteURI.logForm(of: report.uri))
        // Messages may contain values.
        fields.add("paths", report.errors.map(\.path))
        fields.add("treatment", report.isRejected ? "rejected" : "passed on")
      }
    case .callEnded(let call):
      logger.debug(
        "call",
        metadata: fields(client) { fields in
          add(call.client, to: &fields)
          fields.add(call)
        })
    case .pageRequested, .pageOpened, .pageResumed, .pageVisibilityChanged, .pageClosed,
      .pageFailed, .taskStarted,
      .taskEnded, .taskDeclined, .handlerResponded, .routeFailed, .operationFailed,
      .hostsChanged, .interceptorsDecided:
      break
    }
  }

  private func fields(
    _ client: EventClient?, _ add: (inout LogFields) -> Void
  ) -> Logger.Metadata {
    var fields = LogFields(client)
    add(&fields)
    return fields.metadata
  }

  /// Throttled, since clients control how often they cause it.
  private func warn(
    _ message: Logger.Message, from client: EventClient?, _ add: (inout LogFields) -> Void
  ) {
    let decision = throttle.decide(message.description, from: client?.address)
    for suppressed in decision.suppressedCounts {
      logger.warning(
        "warnings suppressed",
        metadata: fields(suppressed.key.map { EventClient(address: $0) }) { fields in
          fields.add("count", suppressed.count)
          fields.add("warning", suppressed.kind)
        })
    }
    if decision.passes { logger.warning(message, metadata: fields(client, add)) }
  }
}
