import DequeModule
import WayValues

/// The last events of topics that the app wants new subscribers to get, bounded in all its
/// measures: beyond, the oldest events go.
struct RetainedEvents {
  private struct Key: Hashable {
    let topic: String
    let audience: Audience
  }

  private struct Event {
    let order: UInt64
    let bytes: [UInt8]
  }

  /// How many events of one topic may be asked to be kept.
  static let maxEvents = 100
  /// Bytes of all that is kept, and so of one event.
  static let maxSize = 4 << 20
  private let maxTopics: Int
  private let maxBytes: Int
  private var shelves: [Key: Deque<Event>] = [:]
  private var size = 0
  private var lastOrder: UInt64 = 0

  /// Keeps at most `maxBytes` of at most `maxTopics` topics, each counted once for every audience.
  init(maxTopics: Int = 1024, maxBytes: Int = maxSize) {
    self.maxTopics = maxTopics
    self.maxBytes = maxBytes
  }

  /// Keeps an event as the last of `count` of its topic and audience.
  mutating func keep(_ bytes: [UInt8], of topic: String, for audience: Audience, last count: Int) {
    let key = Key(topic: topic, audience: audience)
    lastOrder += 1
    shelves[key, default: []].append(Event(order: lastOrder, bytes: bytes))
    size += bytes.count
    while (shelves[key]?.count ?? 0) > max(count, 1) { removeFirst(of: key) }
    while shelves.count > maxTopics || size > maxBytes {
      let oldest = shelves.min { ($0.value.first?.order ?? 0) < ($1.value.first?.order ?? 0) }
      guard let oldest else { return }
      removeFirst(of: oldest.key)
    }
  }

  /// Forgets what is kept of a topic for an audience.
  mutating func forget(_ topic: String, for audience: Audience) {
    forget { $0 == Key(topic: topic, audience: audience) }
  }

  /// Forgets what is kept for one session or its clients alone.
  mutating func forget(session: String) {
    guard !shelves.isEmpty else { return }
    forget { key in
      switch key.audience {
      case .session(let id), .client(_, session: let id): id == session
      case .all, .user, .group: false
      }
    }
  }

  /// The messages of the topics and audiences that are wanted, in the order in which they were
  /// published.
  func messages(where isWanted: (_ topic: String, _ audience: Audience) -> Bool) -> [[UInt8]] {
    shelves.filter { isWanted($0.key.topic, $0.key.audience) }
      .flatMap(\.value).sorted { $0.order < $1.order }.map(\.bytes)
  }

  /// All that is kept for more than one session, as another server is told it.
  var told: [Value] {
    shelves.filter { $0.key.audience.session == nil }.sorted {
      ($0.value.first?.order ?? 0) < ($1.value.first?.order ?? 0)
    }.map { key, events in
      [
        "topic": .string(key.topic), "to": key.audience.told,
        "events": .list(events.map { .string(String(decoding: $0.bytes, as: UTF8.self)) }),
      ]
    }
  }

  private mutating func forget(where isGone: (Key) -> Bool) {
    for (key, events) in shelves where isGone(key) {
      size -= events.reduce(0) { $0 + $1.bytes.count }
      shelves[key] = nil
    }
  }

  private mutating func removeFirst(of key: Key) {
    guard let event = shelves[key]?.popFirst() else { return }
    size -= event.bytes.count
    if shelves[key]?.isEmpty == true { shelves[key] = nil }
  }
}
