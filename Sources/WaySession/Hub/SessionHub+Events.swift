import WayRPC
import WayRouting
import WayValues

// Events that the app publishes, and those that it listens to.
extension SessionHub {
  /// Publishes an event of the app's own to the clients of an audience that subscribe to its topic,
  /// and keeps the last `retain` of the topic for those that subscribe later. Fails with -32602 for
  /// a wrong topic or count, and with 2413 for data that cannot be sent.
  package func publish(
    _ topic: String, _ data: Value, to audience: Audience, retain: Int
  ) throws(CallError) {
    if let fault = Topic.fault(in: topic, limit: limits.maxTopic) {
      throw .invalidParams("The topic \(topic.quoted) \(fault)")
    }
    if OwnTopic.reserves(topic) {
      throw .invalidParams(
        "The topic \(topic.quoted) is the server's own: begin it with another word")
    }
    guard (0...RetainedEvents.maxEvents).contains(retain) else {
      throw .invalidParams("retain is \(retain): give 0 to \(RetainedEvents.maxEvents)")
    }
    let event = BridgeEvent(topic: topic, data: data, at: configuration.now())
    let limit = min(limits.maxAnswer, retain > 0 ? retainedEvents.maxBytes : .max)
    let message = try message(event, limit: limit)
    for (session, client) in targets(in: audience) {
      session.assumeIsolated { $0.happenings.deliver(message, topic, only: client) }
    }
    if retain > 0 { retainedEvents.keep(message, of: topic, for: audience, last: retain) }
  }

  func message(_ event: BridgeEvent, limit: Int) throws(CallError) -> [UInt8] {
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
  package func forget(_ topic: String, for audience: Audience) {
    retainedEvents.forget(topic, for: audience)
  }

  /// The server's own events of every session, from now on. Fails with -32602 for a wrong topic or
  /// limit; the stream fails with 2429 when its reader is more than `limit` events behind.
  package func events(
    _ topics: [String], limit: Int
  ) throws(CallError) -> AsyncThrowingStream<BridgeEvent, any Error> {
    var patterns: [TopicPattern] = []
    for topic in topics {
      do {
        patterns.append(try TopicPattern(topic, limit: limits.maxTopic))
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
    let kinds = listeners.kinds
    for session in sessions.values {
      session.assumeIsolated { $0.happenings.subscribers.swiftHears(kinds) }
    }
  }

  /// Ends what listens: no more events will come.
  package func endListening() {
    listeners.end()
    listenersChanged()
  }
}
