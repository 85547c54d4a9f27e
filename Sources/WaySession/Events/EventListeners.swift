import WayRPC
import WayRouting
import WayValues

/// The subscriptions of Swift code to the server's own events.
struct EventListeners {
  typealias Continuation = AsyncThrowingStream<BridgeEvent, any Error>.Continuation

  private struct EventListener {
    let patterns: [TopicPattern]
    let limit: Int
    let continuation: Continuation
  }

  private var listeners: [Int: EventListener] = [:]

  /// The kinds of events that any listener wants.
  var kinds: SessionEvent.EventKinds {
    listeners.values.reduce(into: []) { kinds, entry in
      for pattern in entry.patterns { kinds.formUnion(pattern.kinds) }
    }
  }

  mutating func add(
    _ number: Int, _ patterns: [TopicPattern], limit: Int, _ continuation: Continuation
  ) {
    listeners[number] = EventListener(patterns: patterns, limit: limit, continuation: continuation)
  }

  mutating func remove(_ number: Int) {
    listeners[number] = nil
  }

  func deliver(_ event: BridgeEvent) {
    for entry in listeners.values where entry.patterns.contains(where: { $0.matches(event.topic) })
    {
      guard case .dropped = entry.continuation.yield(event) else { continue }
      entry.continuation.finish(
        throwing: CallError(
          .tooMany,
          "The reader is \(entry.limit) events behind; read faster, or use a larger buffer"
        ))
    }
  }

  mutating func end() {
    for entry in listeners.values { entry.continuation.finish() }
    listeners = [:]
  }
}
