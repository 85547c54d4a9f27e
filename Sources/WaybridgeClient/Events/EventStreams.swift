import WayRPC
import WayValues

/// The event subscriptions of this client's readers.
struct EventStreams {
  private struct StreamSubscription {
    let topics: [String]
    let limit: Int
    let continuation: BridgeClient.Events.Continuation

    func matches(_ topic: String) -> Bool {
      topics.contains { pattern in
        pattern.hasSuffix("*")
          ? topic.utf8.starts(with: pattern.utf8.dropLast()) : pattern.isSameUTF8(as: topic)
      }
    }
  }

  private var subscriptions: [Int: StreamSubscription] = [:]
  private var lastNumber = 0

  /// The topics of all readers, each once.
  var topics: [String] {
    var seen: Set<[UInt8]> = []
    return subscriptions.sorted { $0.key < $1.key }.flatMap(\.value.topics)
      .filter { seen.insert(Array($0.utf8)).inserted }
  }

  /// Adds a reader and returns its number.
  mutating func add(
    _ topics: [String], limit: Int, _ continuation: BridgeClient.Events.Continuation
  ) -> Int {
    lastNumber += 1
    subscriptions[lastNumber] = StreamSubscription(
      topics: topics, limit: limit, continuation: continuation)
    return lastNumber
  }

  /// Removes a reader and returns the topics that no other reader uses.
  mutating func remove(_ number: Int) -> [String] {
    guard let subscription = subscriptions.removeValue(forKey: number) else { return [] }
    let remaining = subscriptions.values.flatMap(\.topics)
    return subscription.topics.filter { topic in !remaining.contains { $0.isSameUTF8(as: topic) } }
  }

  func deliver(_ event: BridgeClient.Event) {
    for subscription in subscriptions.values where subscription.matches(event.topic) {
      guard case .dropped = subscription.continuation.yield(event) else { continue }
      subscription.continuation.finish(
        throwing: CallError(
          .tooMany,
          "The reader of \(subscription.topics.joined(separator: ", ")) is \(subscription.limit) "
            + "events behind; read faster, or subscribe with a larger buffer"))
    }
  }

  /// Ends every stream, with the error if there is one.
  mutating func end(_ error: CallError?) {
    for subscription in subscriptions.values { subscription.continuation.finish(throwing: error) }
    subscriptions = [:]
  }
}
