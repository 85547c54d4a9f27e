import WayRPC
import WayRouting
import WayTable
import WayValues

// Events that the app publishes, and those that it listens to.
extension SessionServer {
  /// Publishes an event of the app's own to the clients of an audience that subscribe to its topic,
  /// and keeps the last `retain` of the topic for those that subscribe later. Fails with -32602 for
  /// a wrong topic or count, and with 2413 for data that cannot be sent.
  func publish(
    _ topic: String, _ data: Value, to audience: Audience, retain: Int
  ) async throws(CallError) {
    let limits = configuration.limits
    if let fault = Topic.fault(in: topic, limit: limits.maxTopic) {
      throw .invalidParams("The topic \(topic.quoted) \(fault)")
    }
    if SystemTopic.reserves(topic) {
      throw .invalidParams(
        "The topic \(topic.quoted) is the server's own: begin it with another word")
    }
    guard (0...RetainedEvents.maxEvents).contains(retain) else {
      throw .invalidParams("retain is \(retain): give 0 to \(RetainedEvents.maxEvents)")
    }
    let event = BridgeEvent(topic: topic, data: data, at: configuration.now())
    let limit = min(limits.maxAnswer, retain > 0 ? RetainedEvents.maxSize : .max)
    let message = try message(event, limit: limit)
    // A session that is not there yet finds what is retained on whichever loop it comes.
    for hub in retain > 0 ? hubs : hubs(for: audience) {
      await hub.publish(message, topic, to: audience, retain: retain)
    }
  }

  private func message(_ event: BridgeEvent, limit: Int) throws(CallError) -> [UInt8] {
    var writer = MessageWriter()
    do {
      try writer.notification("event", event.value)
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

  /// Forgets what is retained of a topic for exactly this audience.
  func forget(_ topic: String, for audience: Audience) async {
    for hub in hubs { await hub.forget(topic, for: audience) }
  }

  /// The server's own events of every session, from now on. Fails with -32602 for a wrong topic or
  /// limit; the stream fails with 2429 when its reader is more than `limit` events behind.
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
      throw .invalidParams("The buffer holds \(limit) events: give at least 1")
    }
    let (stream, continuation) = AsyncThrowingStream<BridgeEvent, any Error>.makeStream(
      bufferingPolicy: .bufferingOldest(limit))
    let number = listeners.add(1, ordering: .relaxed).newValue
    for hub in hubs { await hub.listen(number, patterns, limit: limit, continuation) }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { for hub in self.hubs { await hub.stopListening(number) } }
    }
    return stream
  }

  /// Tells those who subscribe to `table.changed` of each change, until the task is cancelled.
  package func tell(_ changes: some AsyncSequence<LiveTable.Change, Never> & Sendable) async {
    for await change in changes {
      // What cannot be shared now is when a server tells of itself next.
      if change.cause != .cluster { _ = await allServers.shareTable() }
      await tell(change)
      await recheck()
    }
  }

  private func tell(_ change: LiveTable.Change) async {
    let topic = SystemTopic.tableChanged.rawValue
    let event = BridgeEvent(topic: topic, data: change.value, at: configuration.now())
    let hubs = hubs
    await hubs.first?.tellListeners(event)
    // It is short: names are cut before there are too many.
    guard let message = try? message(event, limit: configuration.limits.maxAnswer) else { return }
    for hub in hubs { await hub.publish(message, topic, to: .all, retain: 0) }
  }

  /// Compares what is declared with who is there now, aside.
  @discardableResult
  package func recheck() async -> HostRouteAudit {
    let router = configuration.router.snapshot()
    var hosts = Set(serverHosts.definitions)
    for hub in hubs { hosts.formUnion(await hub.hostDefinitions) }
    let now = RouteAuditInput(version: router.version, hosts: hosts)
    let (last, known) = rechecked.withLock { ($0.recheck, $0.of) }
    if now == known { return last }
    let recheck = await Self.recheck(router, hosts)
    rechecked.withLock { $0 = (recheck, now) }
    return recheck
  }

  /// What the last one found.
  package var lastRecheck: HostRouteAudit { rechecked.withLock { $0.recheck } }

  @concurrent
  private static func recheck(
    _ router: RouterSnapshot, _ hosts: Set<HostDefinition>
  ) async -> HostRouteAudit {
    HostRouteAudit(router, hosts)
  }
}

/// What a recheck was about: as long as it is the same, so is the outcome.
struct RouteAuditInput: Hashable {
  let version: Int
  let hosts: Set<HostDefinition>
}
