import WayValues

// Events of the sessions of one loop.
extension LoopSessions {
  /// Sends an encoded event to the clients of an audience that subscribe to its topic, and keeps
  /// the last `retain` events of the topic for later subscribers. With `key`, each session gets it
  /// once. Returns how many sessions it has reached.
  ///
  /// A client that subscribes meanwhile gets a retained event when it subscribes, and not again
  /// when the event reaches its session. `away` describes the event to the push service, if there is
  /// one.
  @discardableResult
  func publish(
    _ message: [UInt8], _ topic: String, to audience: Audience, retain: Int,
    once key: (name: ScopedKey, request: IdempotentRequest)? = nil, away: AwayPush? = nil
  ) async -> DeliveryReceipt {
    await scheduler.beginPush()
    defer { scheduler.endPush() }
    let event = retainedEvents.retain(message, of: topic, for: audience, last: retain)
    var receipt = DeliveryReceipt()
    // A client that has subscribed before must not lose the event because the publisher leaves.
    guard let key else {
      await forEachSession(in: audience, .send, ignoresCancellation: true) { session, client in
        let reach = deliver(event, to: session, only: client)
        receipt.add(reach)
        if let away { report(away, reach, in: session) }
      }
      return receipt
    }
    await forEachSession(in: audience, .send, ignoresCancellation: true) { session, client in
      let reach = session.assumeIsolated {
        $0.publish(event, only: client, under: key.name, key.request)
      }
      switch reach {
      case .success(let reach):
        receipt.add(reach)
        if let away { report(away, reach, in: session) }
      case .failure: receipt.failed += 1
      }
    }
    return receipt
  }

  /// Passes an event on to the push service if no client of a session has a connection.
  private func report(_ event: AwayPush, _ reach: EventReach, in session: Session) {
    guard reach != .subscriber else { return }
    let isWaiting = event.isWaiting || reach == .absentSubscriber
    session.assumeIsolated { $0.reportIfAway(event, isWaiting: isWaiting) }
  }

  private static let deliverIsolated:
    @Sendable (isolated Session, PublishedEvent, String?) -> EventReach = {
      $0.events.deliver($1, only: $2)
    }
  private static let deliverUnchecked = unsafeBitCast(
    deliverIsolated, to: (@Sendable (Session, PublishedEvent, String?) -> EventReach).self)

  /// Sends an event to the subscribers of its topic in one of the sessions, or only to the client with
  /// the given name. Returns whom it has reached.
  ///
  /// It does what `assumeIsolated` does, without allocating a closure, which would be a tenth of the
  /// cost of a delivery.
  private func deliver(
    _ event: PublishedEvent, to session: Session, only client: String?
  ) -> EventReach {
    precondition(session.loop === loop, "a session of another loop")
    return Self.deliverUnchecked(session, event, client)
  }

  /// Retains the events of another server for topics that have none here.
  func retain(peerValues shelves: [Value]) {
    for shelf in shelves {
      guard let topic = shelf["topic"]?.string,
        let audience = try? Audience(shelf["to"])
      else { continue }
      let events = (shelf["events"]?.array ?? []).compactMap(\.string)
      for event in events {
        retainedEvents.retain(Array(event.utf8), of: topic, for: audience, last: events.count)
      }
    }
  }

  /// Forgets the retained events of a topic for exactly this audience. For a session, these include
  /// the events of its clients.
  func forget(_ topic: String, for audience: Audience) {
    retainedEvents.forget(topic, for: audience)
    if case .session(let id) = audience {
      sessions[id]?.assumeIsolated { $0.events.forget(topic) }
    }
  }

  /// Adds a listener of the app for the server's own events, until ``removeListener(_:)`` with the
  /// same number.
  func addListener(
    _ number: Int, _ patterns: [TopicPattern], limit: Int,
    _ continuation: EventListeners.Continuation
  ) {
    listeners.add(number, patterns, limit: limit, continuation)
    observedKinds.setApp(listeners.kinds)
  }

  func removeListener(_ number: Int) {
    listeners.remove(number)
    observedKinds.setApp(listeners.kinds)
  }

  /// Sends an event that belongs to no session to the listeners.
  func notifyListeners(_ event: BridgeEvent) { listeners.deliver(event) }

  /// Ends all event streams.
  func closeEventStreams() {
    listeners.end()
    observedKinds.setApp([])
  }

  /// The hosts that the clients of its sessions have registered.
  func hostDefinitions() async -> Set<SessionHostDefinition> {
    var hosts: Set<SessionHostDefinition> = []
    await forEachSession(.read) { session in
      hosts.formUnion(session.assumeIsolated { $0.resolver.hosts.definitions })
    }
    return hosts
  }
}
