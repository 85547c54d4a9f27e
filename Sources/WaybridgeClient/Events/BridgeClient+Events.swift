import WayValues

extension BridgeClient {
  /// Subscribes to topics. A `*` at the end of a topic matches any rest (`page.*`).
  ///
  /// Retained events arrive first, then all events from the moment of the call. If another reader
  /// of this client has already subscribed to a topic, the server does not send the retained events
  /// again. Releasing the stream ends the subscription.
  ///
  /// The stream ends when this client closes. It throws ``CallError`` if the connection ends
  /// otherwise (2599) or the reader falls behind by more than `buffer` events (2429). A reconnected
  /// session loses no events. In a new session the client subscribes again; events between the two
  /// sessions are lost.
  ///
  /// Throws ``CallError``: -32602 for an invalid topic, 2429 for too many.
  ///
  /// - Parameters:
  ///   - topics: such as `page.opened`, `page.*`, or one of the app's own.
  ///   - buffer: the number of events that may wait for the reader.
  public func events(
    _ topics: [String], buffer: Int = 1024
  ) async throws(CallError) -> Events {
    guard buffer > 0 else { throw .invalidParams("buffer must be at least 1, not \(buffer)") }
    let (events, continuation) = Events.makeStream(bufferingPolicy: .bufferingOldest(buffer))
    let number = eventStreams.add(topics, limit: buffer, continuation)
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { await self.unsubscribe(number) }
    }
    do {
      _ = try await perform("events.subscribe", Self.topicParams(topics))
    } catch {
      // Not subscribed: there is nothing to unsubscribe.
      _ = eventStreams.remove(number)
      throw error
    }
    return events
  }

  /// Publishes an event in this client's session. All its clients that subscribe to the topic receive
  /// it, also this one, with the id of this client. If the publisher awaits each call, its events
  /// arrive in order.
  ///
  /// Throws ``CallError``:
  /// - 2404 (kind `noTopic`) if the server's route table does not declare the topic
  /// - 2422 for data that does not fit the topic; `data.errors` has the path of each fault
  /// - 2403 if the policy, or the invitation of a guest, does not allow it
  /// - 2429 if it publishes too often, 2413 for an event that is too large
  /// - -32602 for an invalid topic, one of the server's own, and a `retain` beyond 0 to 100
  ///
  /// - Parameters:
  ///   - topic: the topic, which the route table declares.
  ///   - data: the data of the event.
  ///   - retain: the number of events of the topic that the server keeps for later subscribers.
  @discardableResult
  public func publish(
    _ topic: String, _ data: Value = .null, retain: Int = 0
  ) async throws(CallError) -> PublishReceipt {
    try await sendPublication(
      ["topic": .string(topic), "data": data, "retain": .integer(Int64(retain))])
  }

  /// Removes the events of a topic that the server keeps for clients of this session that subscribe
  /// later, as ``publish(_:_:retain:)-(String,_,_)`` has requested. No client gets an event. Those
  /// that the app retains stay.
  ///
  /// Throws ``CallError`` 2403 or 2404 as ``publish(_:_:retain:)-(String,_,_)`` does, and -32602 for
  /// an invalid topic.
  public func clearRetained(_ topic: String) async throws(CallError) {
    _ = try await sendPublication(["topic": .string(topic), "clear": true])
  }

  private func sendPublication(_ params: Value) async throws(CallError) -> PublishReceipt {
    let response = try await perform("events.publish", params)
    guard let delivered = response["delivered"]?.integer, let waiting = response["waiting"]?.integer
    else { throw .malformedResponse("events.publish", response) }
    return PublishReceipt(delivered: Int(clamping: delivered), waiting: Int(clamping: waiting))
  }

  private func unsubscribe(_ number: Int) async {
    let topics = eventStreams.remove(number)
    guard !topics.isEmpty, connection.acceptsMessages else { return }
    _ = try? await perform("events.unsubscribe", Self.topicParams(topics))
  }

  private static func topicParams(_ topics: [String]) -> Value {
    ["topics": .array(topics.map(Value.string))]
  }
}
