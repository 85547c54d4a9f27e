import WayRPC
import WayRouting
import WayTable
import WayValues

// Events that the app publishes, and those that it listens to.
extension SessionServer {
  /// Publishes an event of the app to the clients of an audience that subscribe to its topic, and
  /// keeps the last `retain` events of the topic for later subscribers. With `key`, each session
  /// gets it once. Returns how many sessions it has reached.
  ///
  /// Fails with -32602 for a wrong topic or count, and with 2413 for data that cannot be sent.
  @discardableResult
  func publish(
    _ topic: String, _ data: Value, to audience: Audience, retain: Int,
    once key: (name: ScopedKey, request: IdempotentRequest)? = nil
  ) async throws(CallError) -> DeliveryReceipt {
    let limits = configuration.limits
    if let violation = SessionTopic.violation(in: topic, limit: limits.maxTopic) {
      throw .invalidParams("The topic \(topic.quoted) \(violation)")
    }
    if SystemTopic.isReserved(topic) {
      throw .invalidParams(
        "The topic \(topic.quoted) is the server's own; begin it with another word")
    }
    guard (0...RetainedEvents.maxEvents).contains(retain) else {
      throw .invalidParams("retain must be from 0 to \(RetainedEvents.maxEvents), not \(retain)")
    }
    let event = BridgeEvent(topic: topic, data: data, at: configuration.now())
    let limit = min(limits.maxAnswer, retain > 0 ? RetainedEvents.maxTotalBytes : .max)
    let message = try encodeEvent(event, limit: limit)
    // A retained event waits for subscribers.
    let away = configuration.eventSink.awayPush.map { _ in
      AwayPush(
        method: "event", target: topic, params: data, key: key?.name.text, isWaiting: retain > 0,
        at: event.at)
    }
    // A session that is opened later finds the retained events on its loop, whichever that is.
    var receipt = DeliveryReceipt()
    for loopSessions in retain > 0 ? sessionsByLoop : sessionsByLoop(for: audience) {
      receipt += await loopSessions.publish(
        message, topic, to: audience, retain: retain, once: key, away: away)
    }
    return receipt
  }

  private func encodeEvent(_ event: BridgeEvent, limit: Int) throws(CallError) -> [UInt8] {
    var writer = MessageWriter()
    do {
      try writer.writeNotification("event", event.value)
    } catch {
      throw CallError(.tooLarge, "The event cannot be sent: \(error)")
    }
    guard writer.count <= limit else {
      throw CallError(
        .tooLarge, "The event has \(writer.count) bytes, more than \(limit)"
      )
    }
    return writer.bytes
  }

  /// Forgets the retained events of a topic for exactly this audience.
  func forget(_ topic: String, for audience: Audience) async {
    for loopSessions in sessionsByLoop { await loopSessions.forget(topic, for: audience) }
  }

  /// Returns a stream of the server's own events of every session from now on. Fails with -32602
  /// for a wrong topic or limit. The stream fails with 2429 if its reader is more than `limit`
  /// events behind.
  package func events(
    _ topics: [String], limit: Int
  ) async throws(CallError) -> AsyncThrowingStream<BridgeEvent, any Error> {
    var patterns: [TopicPattern] = []
    for topic in topics {
      do {
        patterns.append(try TopicPattern(topic, limit: configuration.limits.maxTopic))
      } catch {
        throw .invalidParams("The topic \(topic.quoted) \(error.reason)")
      }
    }
    guard limit > 0 else {
      throw .invalidParams("The buffer must hold at least 1 event, not \(limit)")
    }
    let (stream, continuation) = AsyncThrowingStream<BridgeEvent, any Error>.makeStream(
      bufferingPolicy: .bufferingOldest(limit))
    let number = lastListenerID.add(1, ordering: .relaxed).newValue
    for loopSessions in sessionsByLoop {
      await loopSessions.addListener(number, patterns, limit: limit, continuation)
    }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { for loopSessions in self.sessionsByLoop { await loopSessions.removeListener(number) } }
    }
    return stream
  }

  /// Sends a table change to the subscribers of `table.changed`, and to agents.
  func publishTableChange(_ change: LiveTable.Change) async {
    agentListeners.toolsChanged()
    let topic = SystemTopic.tableChanged.rawValue
    let event = BridgeEvent(topic: topic, data: change.value, at: configuration.now())
    let allLoopSessions = sessionsByLoop
    await allLoopSessions.first?.notifyListeners(event)
    // The event is short: its lists of names are truncated.
    guard let message = try? encodeEvent(event, limit: configuration.limits.maxAnswer) else {
      return
    }
    for loopSessions in allLoopSessions {
      await loopSessions.publish(message, topic, to: .all, retain: 0)
    }
  }

  /// Compares the declared routes with the registered hosts, outside of the loops' threads.
  @discardableResult
  package func auditRoutes() async -> HostRouteAudit {
    let router = configuration.router.snapshot()
    var hosts = Set(serverHosts.definitions)
    for loopSessions in sessionsByLoop { hosts.formUnion(await loopSessions.hostDefinitions()) }
    let input = RouteAuditInput(version: router.version, hosts: hosts)
    let (last, lastInput) = routeAudit.withLock { ($0.audit, $0.input) }
    if input == lastInput { return last }
    let audit = await Self.auditRoutes(router, hosts)
    routeAudit.withLock { $0 = (audit, input) }
    return audit
  }

  /// The result of the last audit.
  package var lastRouteAudit: HostRouteAudit { routeAudit.withLock { $0.audit } }

  @concurrent
  private static func auditRoutes(
    _ router: RouterSnapshot, _ hosts: Set<SessionHostDefinition>
  ) async -> HostRouteAudit {
    HostRouteAudit(router, hosts)
  }
}

/// The input of a route audit: for the same input the result is the same.
struct RouteAuditInput: Hashable {
  let version: Int
  let hosts: Set<SessionHostDefinition>
}
