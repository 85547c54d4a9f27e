import WayRPC
import WayRouting
import WayValues

/// Swift code that listens to the server's own events.
struct EventListeners {
  typealias Continuation = AsyncThrowingStream<BridgeEvent, any Error>.Continuation

  private struct Entry {
    let patterns: [TopicPattern]
    let limit: Int
    let continuation: Continuation
  }

  private var entries: [Int: Entry] = [:]

  /// The topics that any of them wants.
  var kinds: Happening.Kinds {
    entries.values.reduce(into: []) { kinds, entry in
      for pattern in entry.patterns { kinds.formUnion(pattern.kinds) }
    }
  }

  mutating func add(
    _ number: Int, _ patterns: [TopicPattern], limit: Int, _ continuation: Continuation
  ) {
    entries[number] = Entry(patterns: patterns, limit: limit, continuation: continuation)
  }

  mutating func remove(_ number: Int) {
    entries[number] = nil
  }

  func deliver(_ event: BridgeEvent) {
    for entry in entries.values where entry.patterns.contains(where: { $0.covers(event.topic) }) {
      guard case .dropped = entry.continuation.yield(event) else { continue }
      entry.continuation.finish(
        throwing: CallError(
          .tooMany,
          "The reader of events is \(entry.limit) behind; read faster, or give it a larger buffer"
        ))
    }
  }

  mutating func end() {
    for entry in entries.values { entry.continuation.finish() }
    entries = [:]
  }
}
