import WayRPC
import WayRouting

/// Swift code that listens to the server's own events.
struct EventListeners {
  typealias Continuation = AsyncThrowingStream<BridgeEvent, any Error>.Continuation

  private struct Entry {
    let patterns: [TopicPattern]
    let limit: Int
    let continuation: Continuation
  }

  private var entries: [Int: Entry] = [:]
  private var last = 0

  /// The topics that any of them wants.
  var families: TopicFamilies {
    entries.values.reduce(into: []) { families, entry in
      for pattern in entry.patterns { families.formUnion(pattern.families) }
    }
  }

  mutating func add(
    _ patterns: [TopicPattern], limit: Int, _ continuation: Continuation
  ) -> Int {
    last += 1
    entries[last] = Entry(patterns: patterns, limit: limit, continuation: continuation)
    return last
  }

  mutating func remove(_ number: Int) {
    entries[number] = nil
  }

  func deliver(_ event: BridgeEvent) {
    for entry in entries.values where entry.patterns.contains(where: { $0.covers(event.topic) }) {
      guard case .dropped = entry.continuation.yield(event) else { continue }
      entry.continuation.finish(
        throwing: RPCError(
          .tooMany,
          "The reader of events is \(entry.limit) behind; read faster, or give it a larger buffer"
        ).taskError)
    }
  }

  mutating func end() {
    for entry in entries.values { entry.continuation.finish() }
    entries = [:]
  }
}
