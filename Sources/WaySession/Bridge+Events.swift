import WayRPC
import WayRouting
import WayValues

// Events that the app publishes, and those that it listens to.
extension Bridge {
  /// Publishes an event of the app's own to the clients of an audience that subscribe to its topic, and keeps the
  /// last `retain` of the topic for those that subscribe later. Fails with -32602 for a wrong topic or count, and
  /// with 2413 for data that cannot be sent.
  package func publish(
    _ topic: String, _ data: Value, to audience: Audience, retain: Int
  ) throws(TaskError) {
    if let fault = Topic.fault(in: topic, limit: settings.limits.maxTopic) {
      throw .invalidParams("The topic \(topic.quoted) \(fault)")
    }
    if OwnTopic.reserves(topic) {
      throw .invalidParams(
        "The topic \(topic.quoted) is the server's own: begin it with another word")
    }
    guard (0...RetainedEvents.maxEvents).contains(retain) else {
      throw .invalidParams("retain is \(retain): give 0 to \(RetainedEvents.maxEvents)")
    }
    let event = BridgeEvent(topic: topic, data: data, at: settings.now())
    let limit = min(settings.limits.maxAnswer, retain > 0 ? retainedEvents.maxBytes : .max)
    let message = try message(event, limit: limit)
    for (session, client) in targets(in: audience) {
      session.assumeIsolated { $0.deliver(message, topic, only: client) }
    }
    if retain > 0 { retainedEvents.keep(message, of: topic, for: audience, last: retain) }
  }

  private func message(_ event: BridgeEvent, limit: Int) throws(TaskError) -> [UInt8] {
    var writer = MessageWriter()
    do {
      try writer.notification("event", event.value)
    } catch {
      throw RPCError(.tooLarge, "The event cannot be sent: \(error)").taskError
    }
    guard writer.bytes.count <= limit else {
      throw RPCError(
        .tooLarge, "The event has \(writer.bytes.count) bytes, more than \(limit)"
      ).taskError
    }
    return writer.bytes
  }

  /// Forgets what is retained of a topic for exactly this audience.
  package func forget(_ topic: String, for audience: Audience) {
    retainedEvents.forget(topic, for: audience)
  }

  /// What is retained of the wanted topics for a client, oldest first.
  func retained(
    for session: String, client: String, where isWanted: (String) -> Bool
  ) -> [[UInt8]] {
    retainedEvents.messages { topic, audience in
      isWanted(topic) && audiences.contains(session, client: client, in: audience)
    }
  }

  /// The server's own events of every session, from now on. Fails with -32602 for a wrong topic or limit; the
  /// stream fails with 2429 when its reader is more than `limit` events behind.
  package func events(
    _ topics: [String], limit: Int
  ) throws(TaskError) -> AsyncThrowingStream<BridgeEvent, any Error> {
    var patterns: [TopicPattern] = []
    for topic in topics {
      do {
        patterns.append(try TopicPattern(topic, limit: settings.limits.maxTopic))
      } catch {
        throw .invalidParams("The topic \(topic.quoted) \(error.reason)")
      }
    }
    guard limit > 0 else {
      throw .invalidParams("The buffer holds \(limit) events: give at least 1")
    }
    let (stream, continuation) = AsyncThrowingStream<BridgeEvent, any Error>.makeStream(
      bufferingPolicy: .bufferingOldest(limit))
    let number = listeners.add(patterns, limit: limit, continuation)
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { await self.stopListening(number) }
    }
    listenersChanged()
    return stream
  }

  private func stopListening(_ number: Int) {
    listeners.remove(number)
    listenersChanged()
  }

  private func listenersChanged() {
    let families = listeners.families
    for session in sessions.values { session.assumeIsolated { $0.swiftHears(families) } }
  }

  /// A session has told an event of its own.
  func heard(_ event: BridgeEvent) {
    listeners.deliver(event)
  }

  /// Ends what listens: no more events will come.
  package func endListening() {
    listeners.end()
    listenersChanged()
  }
}
