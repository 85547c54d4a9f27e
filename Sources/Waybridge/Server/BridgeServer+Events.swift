import WaySession

// Events: those that the app publishes, and those of the server and of clients, which the app can
// receive. Usable from any thread, from `onListening` until `run()` ends. All methods throw
// ``CallError`` with the code 2503 while the server does not run.
extension BridgeServer {
  /// Publishes an event of the app to the clients of an audience that subscribe to its topic
  /// (`events.subscribe`). If the publisher awaits each call, its events arrive in order.
  ///
  /// With `retain`, the last `retain` events of the topic for this audience are kept, and sent to
  /// clients that subscribe later, before newer events. At most 1,024 topics (each counted once for
  /// every audience) and 4 MiB are retained; then the oldest events are dropped. Events retained
  /// for a session are dropped with it.
  ///
  /// Returns how many sessions the event has reached, and in how many it waits for subscribers.
  ///
  /// Throws ``CallError``:
  /// - -32602 for a topic that is not 1 to 256 (``Limits/maxTopic``) ASCII letters, digits and
  ///   `. _ - : /`, or that begins as the server's own do (`session.`, `page.`, `task.`, `route.`,
  ///   `server.`, `table.`)
  /// - -32602 for a `retain` beyond 0 to 100
  /// - 2413 for data that nests too deep, or an event larger than ``Limits/maxAnswer`` or, to be
  ///   retained, 4 MiB
  @discardableResult
  public func publish(
    _ topic: String, _ data: Value = .null, to audience: Audience = .all, retain: Int = 0
  ) async throws(CallError) -> DeliveryReceipt {
    try await sessionServer().dispatch.publish(topic, data, to: audience, retain: retain)
  }

  /// Publishes an event of a topic of generated code, as ``publish(_:_:to:retain:)-(String,_,_,_)``
  /// does. Throws the same errors, and -32602 for data that cannot be encoded as JSON.
  @discardableResult
  public func publish<Data>(
    _ topic: EventTopic<Data>, _ data: Data, to audience: Audience = .all, retain: Int = 0
  ) async throws(CallError) -> DeliveryReceipt {
    let value: Value
    do { value = try ValueEncoder().encode(data) } catch {
      throw .invalidParams("The data of \(topic.name) cannot be encoded as JSON: \(error)")
    }
    return try await publish(topic.name, value, to: audience, retain: retain)
  }

  /// Removes the events of a topic that ``publish(_:_:to:retain:)-(String,_,_,_)`` has retained for
  /// exactly this audience. For a session, these include the events of its clients. Throws only
  /// while the server does not run.
  public func clearRetained(_ topic: String, for audience: Audience = .all) async throws(CallError)
  {
    try await sessionServer().dispatch.forget(topic, for: audience)
  }

  /// Returns the server's own events of all sessions from now on, each with the id of its
  /// `session`, and the events that clients publish. PROTOCOL.md lists the server's own;
  /// `session.opened` and `session.closed` are among them.
  ///
  /// The stream ends with the server, and throws ``CallError`` 2429 if its reader falls behind by
  /// more than `buffer` events. Releasing the stream ends it. Throws -32602 for an invalid topic.
  ///
  /// - Parameters:
  ///   - topics: a `*` at the end of a topic matches any rest.
  ///   - buffer: the number of events that may wait for the stream's reader.
  public func events(
    _ topics: [String] = ["*"], buffer: Int = 1024
  ) async throws(CallError) -> AsyncThrowingStream<BridgeEvent, any Error> {
    try await sessionServer().events(topics, limit: buffer)
  }
}
