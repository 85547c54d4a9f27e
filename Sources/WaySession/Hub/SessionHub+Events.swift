import WayValues

// Events of the sessions of one loop.
extension LoopSessions {
  /// Sends an event that is written to those of an audience who subscribe to its topic, and keeps
  /// the last `retain` of the topic for later ones.
  func publish(_ message: [UInt8], _ topic: String, to audience: Audience, retain: Int) {
    if case .all = audience {
      for session in sessions.values { Session.deliver(session, message, topic, nil) }
    } else {
      for (session, client) in targets(in: audience) {
        Session.deliver(session, message, topic, client)
      }
    }
    if retain > 0 { retainedEvents.keep(message, of: topic, for: audience, last: retain) }
  }

  /// Retains what another server does, where nothing of its topic is.
  func retain(told shelves: [Value]) {
    for shelf in shelves {
      guard let topic = shelf["topic"]?.string, let audience = try? Push.audience(shelf["to"])
      else { continue }
      let events = (shelf["events"]?.list ?? []).compactMap(\.string)
      for event in events {
        retainedEvents.keep(Array(event.utf8), of: topic, for: audience, last: events.count)
      }
    }
  }

  /// Forgets what is retained of a topic for exactly this audience.
  func forget(_ topic: String, for audience: Audience) {
    retainedEvents.forget(topic, for: audience)
  }

  /// Swift code listens to the server's own events, until ``stopListening(_:)`` with the same
  /// number.
  func listen(
    _ number: Int, _ patterns: [TopicPattern], limit: Int,
    _ continuation: EventListeners.Continuation
  ) {
    listeners.add(number, patterns, limit: limit, continuation)
    listenersChanged()
  }

  func stopListening(_ number: Int) {
    listeners.remove(number)
    listenersChanged()
  }

  /// Tells an event that is no session's to those who listen.
  func tellListeners(_ event: BridgeEvent) { listeners.deliver(event) }

  private func listenersChanged() {
    let kinds = listeners.kinds
    for session in sessions.values {
      session.assumeIsolated { $0.happenings.subscribers.swiftHears(kinds) }
    }
  }

  /// Ends what listens: no more events will come.
  func endListening() {
    listeners.end()
    listenersChanged()
  }

  /// What the clients of its sessions host for these.
  var hostDefinitions: Set<HostDefinition> {
    var hosts: Set<HostDefinition> = []
    for session in sessions.values {
      hosts.formUnion(session.assumeIsolated { $0.guide.hosts.definitions })
    }
    return hosts
  }
}
