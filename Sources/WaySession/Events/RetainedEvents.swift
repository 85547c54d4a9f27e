import DequeModule
import WayValues

/// The numbers of the events that are published on a loop, and the last events of topics, retained
/// for new subscribers as the app requested. Number and bytes are bounded; beyond the bounds, the
/// oldest events are removed.
struct RetainedEvents {
  private struct RetentionKey: Hashable {
    let topic: String
    let audience: Audience
  }

  private struct RetainedEvent {
    let number: UInt64
    let bytes: [UInt8]
  }

  /// The maximum number of events of one topic that the app can retain.
  static let maxEvents = 100
  /// Bytes of all retained events, and so of one event.
  static let maxTotalBytes = 4 << 20
  private let maxTopics: Int
  private let maxBytes: Int
  private var queues: [RetentionKey: Deque<RetainedEvent>] = [:]
  private var totalBytes = 0
  /// The number of the last published event, retained or not.
  private(set) var lastNumber: UInt64 = 0

  /// Retains at most `maxBytes` of at most `maxTopics` topics, each counted once for every
  /// audience.
  init(maxTopics: Int = 1024, maxBytes: Int = maxTotalBytes) {
    self.maxTopics = maxTopics
    self.maxBytes = maxBytes
  }

  /// Numbers an event, and retains it as the last of `count` events of its topic and audience. Does
  /// not retain it if `count` is 0.
  @discardableResult
  mutating func retain(
    _ message: [UInt8], of topic: String, for audience: Audience, last count: Int
  ) -> PublishedEvent {
    lastNumber += 1
    let event = PublishedEvent(number: lastNumber, topic: topic, message: message)
    if count > 0 { retain(event, for: audience, last: count) }
    return event
  }

  private mutating func retain(_ event: PublishedEvent, for audience: Audience, last count: Int) {
    let key = RetentionKey(topic: event.topic, audience: audience)
    queues[key, default: []].append(RetainedEvent(number: event.number, bytes: event.message))
    totalBytes += event.message.count
    while (queues[key]?.count ?? 0) > count { removeFirst(of: key) }
    while queues.count > maxTopics || totalBytes > maxBytes {
      let oldest = queues.min { ($0.value.first?.number ?? 0) < ($1.value.first?.number ?? 0) }
      guard let oldest else { return }
      removeFirst(of: oldest.key)
    }
  }

  /// Removes the events of a topic for an audience.
  mutating func forget(_ topic: String, for audience: Audience) {
    forget { $0 == RetentionKey(topic: topic, audience: audience) }
  }

  /// Removes the events that are only for one session or its clients.
  mutating func forget(session: String) {
    guard !queues.isEmpty else { return }
    forget { key in
      switch key.audience {
      case .session(let id), .client(_, session: let id): id == session
      case .all, .user, .group: false
      }
    }
  }

  /// The messages of the topics and audiences that match, in the order in which they were
  /// published.
  func messages(where isWanted: (_ topic: String, _ audience: Audience) -> Bool) -> [[UInt8]] {
    queues.filter { isWanted($0.key.topic, $0.key.audience) }
      .flatMap(\.value).sorted { $0.number < $1.number }.map(\.bytes)
  }

  /// All events for more than one session, in the form for other servers.
  var peerValues: [Value] {
    queues.filter { $0.key.audience.session == nil }.sorted {
      ($0.value.first?.number ?? 0) < ($1.value.first?.number ?? 0)
    }.map { key, events in
      [
        "topic": .string(key.topic), "to": key.audience.value,
        "events": .array(events.map { .string(String(decoding: $0.bytes, as: UTF8.self)) }),
      ]
    }
  }

  private mutating func forget(where isRemoved: (RetentionKey) -> Bool) {
    for (key, events) in queues where isRemoved(key) {
      totalBytes -= events.reduce(0) { $0 + $1.bytes.count }
      queues[key] = nil
    }
  }

  private mutating func removeFirst(of key: RetentionKey) {
    guard let event = queues[key]?.popFirst() else { return }
    totalBytes -= event.bytes.count
    if queues[key]?.isEmpty == true { queues[key] = nil }
  }
}
