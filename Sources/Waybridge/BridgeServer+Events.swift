import WaySession

// Events: the app's own, which it publishes, and the server's, which it may listen to. Usable from
// any thread, from `onListening` on until `run()` ends. All of it throws ``CallError`` with the
// code 2503 while the server does not run.
extension BridgeServer {
  /// Tells an event of the app's own to the clients of an audience that subscribe to its topic
  /// (`events.subscribe`). Events of one publisher that awaits each arrive in their order.
  ///
  /// With `retain` the last so many events of the topic for this audience are kept, and sent to
  /// clients that subscribe later, before newer ones. What is kept is bounded: 1,024 topics (each
  /// counted once for every audience) and 4 MiB; beyond, the oldest events go. What is kept for a
  /// session goes with it.
  ///
  /// Throws ``CallError``: -32602 for a topic that is not 1 to 256 (``Limits/maxTopic``) ASCII
  /// letters, digits and `. _ - : /`, or that begins as the server's own do (`session.`, `page.`,
  /// `task.`, `route.`, `server.`, `table.`), and for a `retain` beyond 0 to 100; 2413 for data
  /// that nests too deep, or an event larger than ``Limits/maxAnswer`` or, to be retained, 4 MiB.
  public func publish(
    _ topic: String, _ data: Value = .null, to audience: Audience = .all, retain: Int = 0
  ) async throws(CallError) {
    try await group().allServers.publish(topic, data, to: audience, retain: retain)
  }

  /// Tells an event of a topic that generated code knows, as ``publish(_:_:to:retain:)-(String,_,_,_)``. Throws as
  /// that does, and -32602 for data that JSON cannot write.
  public func publish<Data>(
    _ topic: EventTopic<Data>, _ data: Data, to audience: Audience = .all, retain: Int = 0
  ) async throws(CallError) {
    let value: Value
    do { value = try ValueEncoder().encode(data) } catch {
      throw .invalidParams("the data of \(topic.name) cannot be written as JSON: \(error)")
    }
    try await publish(topic.name, value, to: audience, retain: retain)
  }

  /// Forgets what ``publish(_:_:to:retain:)-(String,_,_,_)`` has kept of a topic for exactly this audience.
  /// Throws only while the server does not run.
  public func forget(_ topic: String, to audience: Audience = .all) async throws(CallError) {
    try await group().allServers.forget(topic, for: audience)
  }

  /// The server's own events of all sessions from now on, each with the id of its `session`: those
  /// that PROTOCOL.md lists, `session.opened` and `session.closed` among them.
  ///
  /// The stream ends with the server, and throws ``CallError`` 2429 when its reader falls behind by
  /// more than `buffer` events. Letting go of it ends it. Throws -32602 for a wrong topic.
  ///
  /// - Parameters:
  ///   - topics: a `*` at the end of one stands for any rest.
  ///   - buffer: how many events may wait for the stream's reader.
  public func events(
    _ topics: [String] = ["*"], buffer: Int = 1024
  ) async throws(CallError) -> AsyncThrowingStream<BridgeEvent, any Error> {
    try await group().events(topics, limit: buffer)
  }
}
