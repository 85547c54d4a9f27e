import WayRPC
import WayValues

/// The subscriptions of this client's own readers.
struct EventStreams {
  private struct Entry {
    let topics: [String]
    let limit: Int
    let continuation: BridgeClient.Events.Continuation

    func wants(_ topic: String) -> Bool {
      topics.contains { pattern in
        pattern.hasSuffix("*")
          ? topic.utf8.starts(with: pattern.utf8.dropLast()) : pattern.isSameUTF8(as: topic)
      }
    }
  }

  private var entries: [Int: Entry] = [:]
  private var last = 0

  /// What all readers together want, each topic once.
  var topics: [String] {
    var seen: Set<[UInt8]> = []
    return entries.sorted { $0.key < $1.key }.flatMap(\.value.topics)
      .filter { seen.insert(Array($0.utf8)).inserted }
  }

  /// Keeps a reader; gives it its number.
  mutating func add(
    _ topics: [String], limit: Int, _ continuation: BridgeClient.Events.Continuation
  ) -> Int {
    last += 1
    entries[last] = Entry(topics: topics, limit: limit, continuation: continuation)
    return last
  }

  /// Lets a reader go; gives the topics that no other wants.
  mutating func remove(_ number: Int) -> [String] {
    guard let entry = entries.removeValue(forKey: number) else { return [] }
    let kept = entries.values.flatMap(\.topics)
    return entry.topics.filter { topic in !kept.contains { $0.isSameUTF8(as: topic) } }
  }

  func deliver(_ event: BridgeClient.Event) {
    for entry in entries.values where entry.wants(event.topic) {
      guard case .dropped = entry.continuation.yield(event) else { continue }
      entry.continuation.finish(
        throwing: CallError(
          .tooMany,
          "The reader of \(entry.topics.joined(separator: ", ")) is \(entry.limit) "
            + "events behind; read faster, or subscribe with a larger buffer"))
    }
  }

  /// Ends every stream, with the error where there is one.
  mutating func end(_ error: CallError?) {
    for entry in entries.values { entry.continuation.finish(throwing: error) }
    entries = [:]
  }
}
