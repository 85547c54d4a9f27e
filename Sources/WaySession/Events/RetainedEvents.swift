import DequeModule
import WayTransport
import WayValues

/// The numbers of the events that are published on a loop, and the last events of topics, retained
/// for new subscribers as their publishers requested. Number and bytes are bounded; beyond the bounds,
/// the oldest events are removed.
struct RetainedEvents {
  private struct RetentionKey: Hashable {
    let topic: String
    let audience: Audience
  }

  private struct RetainedEvent {
    let event: PublishedEvent
    /// The bytes charged for the event; `nil` for an event of the app.
    let charge: ByteBudget.Charge?
  }

  /// The maximum number of events of one topic that are retained.
  static let maxEvents = 100
  /// Bytes of all retained events, and so of one event.
  static let maxTotalBytes = 4 << 20
  private let maxTopics: Int
  /// Bytes of all events that this one retains.
  let maxBytes: Int
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
    let event = PublishedEvent(number: makeNumber(), topic: topic, message: message)
    if count > 0 { retain(event, for: audience, last: count) }
    return event
  }

  /// Returns the number of the next event.
  mutating func makeNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Retains an event as the last of `count` events of its topic and audience, at least one. `charge`
  /// is released when the event is removed.
  mutating func retain(
    _ event: PublishedEvent, for audience: Audience, last count: Int,
    _ charge: ByteBudget.Charge? = nil
  ) {
    let key = RetentionKey(topic: event.topic, audience: audience)
    queues[key, default: []].append(RetainedEvent(event: event, charge: charge))
    totalBytes += event.message.count
    while (queues[key]?.count ?? 0) > count { removeFirst(of: key) }
    while queues.count > maxTopics || totalBytes > maxBytes {
      let oldest = queues.min { Self.firstNumber($0.value) < Self.firstNumber($1.value) }
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

  /// The events of the topics and audiences that match, in no order.
  func events(where isWanted: (_ topic: String, _ audience: Audience) -> Bool) -> [PublishedEvent] {
    queues.filter { isWanted($0.key.topic, $0.key.audience) }.flatMap(\.value).map(\.event)
  }

  /// All events for more than one session, in the form for other servers.
  var peerValues: [Value] {
    queues.filter { $0.key.audience.session == nil }.sorted {
      Self.firstNumber($0.value) < Self.firstNumber($1.value)
    }.map { key, events in
      [
        "topic": .string(key.topic), "to": key.audience.value,
        "events": .array(
          events.map { String(decoding: $0.event.message, as: UTF8.self) }.map(Value.string)),
      ]
    }
  }

  private mutating func forget(where isRemoved: (RetentionKey) -> Bool) {
    for (key, events) in queues where isRemoved(key) {
      totalBytes -= events.reduce(0) { $0 + $1.event.message.count }
      queues[key] = nil
    }
  }

  private mutating func removeFirst(of key: RetentionKey) {
    guard let event = queues[key]?.popFirst() else { return }
    totalBytes -= event.event.message.count
    if queues[key]?.isEmpty == true { queues[key] = nil }
  }

  private static func firstNumber(_ events: Deque<RetainedEvent>) -> UInt64 {
    events.first?.event.number ?? 0
  }
}
