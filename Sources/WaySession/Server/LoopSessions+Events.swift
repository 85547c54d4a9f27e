import WayValues

// Events of the sessions of one loop.
extension LoopSessions {
  /// Sends an encoded event to the clients of an audience that subscribe to its topic, and keeps
  /// the last `retain` events of the topic for later subscribers. Returns how many sessions it has
  /// reached.
  @discardableResult
  func publish(
    _ message: [UInt8], _ topic: String, to audience: Audience, retain: Int
  ) -> DeliveryReceipt {
    var receipt = DeliveryReceipt()
    if case .all = audience {
      for session in sessions.values where !session.isOfRequest {
        receipt += DeliveryReceipt(Session.deliver(session, message, topic, nil))
      }
    } else {
      for (session, client) in targets(in: audience) {
        receipt += DeliveryReceipt(Session.deliver(session, message, topic, client))
      }
    }
    if retain > 0 { retainedEvents.retain(message, of: topic, for: audience, last: retain) }
    return receipt
  }

  /// Sends an encoded event as ``publish(_:_:to:retain:)`` does, once in each session for the key.
  func publish(
    _ message: [UInt8], _ topic: String, to audience: Audience, retain: Int,
    once key: SessionIdempotencyKeys.ScopedKey, _ request: IdempotentRequest
  ) async -> DeliveryReceipt {
    var receipt = DeliveryReceipt()
    for (index, (session, client)) in targets(in: audience).enumerated() {
      // Each session stores the key, which takes time.
      if index % Self.maxKeysPerTurn == Self.maxKeysPerTurn - 1 { await Task.yield() }
      switch publish(message, topic, to: session, only: client, once: key, request) {
      case .success(let reach): receipt += DeliveryReceipt(reach)
      case .failure: receipt.failed += 1
      }
    }
    if retain > 0 { retainedEvents.retain(message, of: topic, for: audience, last: retain) }
    return receipt
  }

  private func publish(
    _ message: [UInt8], _ topic: String, to session: Session, only client: String?,
    once key: SessionIdempotencyKeys.ScopedKey, _ request: IdempotentRequest
  ) -> Result<EventReach, CallError> {
    session.assumeIsolated {
      PushRunner.publish(message, topic, only: client, under: key, request, in: $0)
    }
  }

  /// How many sessions store a key before other work of the loop goes on.
  private static let maxKeysPerTurn = 256

  /// Retains the events of another server for topics that have none here.
  func retain(peerValues shelves: [Value]) {
    for shelf in shelves {
      guard let topic = shelf["topic"]?.string,
        let audience = try? SessionPush.audience(shelf["to"])
      else { continue }
      let events = (shelf["events"]?.array ?? []).compactMap(\.string)
      for event in events {
        retainedEvents.retain(Array(event.utf8), of: topic, for: audience, last: events.count)
      }
    }
  }

  /// Forgets the retained events of a topic for exactly this audience.
  func forget(_ topic: String, for audience: Audience) {
    retainedEvents.forget(topic, for: audience)
  }

  /// Adds a listener of the app for the server's own events, until ``removeListener(_:)`` with the
  /// same number.
  func addListener(
    _ number: Int, _ patterns: [TopicPattern], limit: Int,
    _ continuation: EventListeners.Continuation
  ) {
    listeners.add(number, patterns, limit: limit, continuation)
    updateAppKinds()
  }

  func removeListener(_ number: Int) {
    listeners.remove(number)
    updateAppKinds()
  }

  /// Sends an event that belongs to no session to the listeners.
  func notifyListeners(_ event: BridgeEvent) { listeners.deliver(event) }

  private func updateAppKinds() {
    let kinds = listeners.kinds
    for session in sessions.values {
      session.assumeIsolated { $0.events.subscribers.setAppKinds(kinds) }
    }
  }

  /// Ends all event streams.
  func closeEventStreams() {
    listeners.end()
    updateAppKinds()
  }

  /// The hosts that the clients of its sessions have registered.
  var hostDefinitions: Set<HostDefinition> {
    var hosts: Set<HostDefinition> = []
    for session in sessions.values {
      hosts.formUnion(session.assumeIsolated { $0.resolver.hosts.definitions })
    }
    return hosts
  }
}
