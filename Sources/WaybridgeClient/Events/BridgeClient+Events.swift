import WayValues

extension BridgeClient {
  /// Subscribes to topics; a `*` at the end of one stands for any rest (`page.*`).
  ///
  /// Events come from the moment of the call on, those that the server retains first; where another
  /// reader of this client has a topic already, the server does not send those again. Letting go of
  /// the stream ends the subscription. The stream ends when this client closes, and throws
  /// ``CallError`` when the connection ends otherwise (2599) or the reader falls behind by more
  /// than `buffer` events (2429). A connection that was lost and made again loses no event; in a new
  /// session the client subscribes again, and what happened between the two is not told.
  ///
  /// Throws ``CallError``: -32602 for a wrong topic, 2429 for too many.
  ///
  /// - Parameters:
  ///   - topics: such as `page.opened`, `page.*`, or one of the app's own.
  ///   - buffer: how many events may wait for the reader.
  public func events(
    _ topics: [String], buffer: Int = 1024
  ) async throws(CallError) -> Events {
    guard buffer > 0 else { throw .invalidParams("buffer is \(buffer); give at least 1") }
    let (events, continuation) = Events.makeStream(bufferingPolicy: .bufferingOldest(buffer))
    let number = streams.add(topics, limit: buffer, continuation)
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { await self.unsubscribe(number) }
    }
    do {
      _ = try await perform("events.subscribe", Self.params(topics))
    } catch {
      // Not subscribed: there is nothing to take back.
      _ = streams.remove(number)
      throw error
    }
    return events
  }

  private func unsubscribe(_ number: Int) async {
    let topics = streams.remove(number)
    guard !topics.isEmpty, line.takesMessages else { return }
    _ = try? await perform("events.unsubscribe", Self.params(topics))
  }

  private static func params(_ topics: [String]) -> Value {
    ["topics": .list(topics.map(Value.string))]
  }
}
