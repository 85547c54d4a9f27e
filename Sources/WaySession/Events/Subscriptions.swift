import WayRPC
import WayTransport
import WayValues

/// The topics to which one client is subscribed, in the order of its requests.
struct Subscriptions {
  private var entries: [(pattern: TopicPattern, lastEvent: UInt64)] = []
  /// The kinds of the server's own events among them.
  private(set) var kinds: SessionEvent.EventKinds = []

  var patterns: [TopicPattern] { entries.map(\.pattern) }

  /// Adds patterns, and returns those that are new; existing ones keep their positions. `lastEvent`
  /// is the number of the last event that was published before. If there would be more than
  /// `limit`, throws 2429 and changes nothing.
  mutating func add(
    _ added: [TopicPattern], after lastEvent: UInt64, limit: Int
  ) throws(CallError) -> [TopicPattern] {
    var known = Set(patterns)
    let new = added.filter { known.insert($0).inserted }
    guard entries.count + new.count <= limit else {
      throw CallError(
        .tooMany, "A client may subscribe to at most \(limit) topics",
        data: ["limit": .integer(Int64(limit))])
    }
    entries += new.map { ($0, lastEvent) }
    updateKinds()
    return new
  }

  /// Removes patterns. If one of them is not there, throws -32602 and changes nothing.
  mutating func remove(_ removed: [TopicPattern]) throws(CallError) {
    let known = Set(patterns)
    for pattern in removed where !known.contains(pattern) {
      throw .invalidParams("This client is not subscribed to \(pattern.text.quoted)")
    }
    let removedSet = Set(removed)
    entries.removeAll { removedSet.contains($0.pattern) }
    updateKinds()
  }

  /// Whether there are none.
  var isEmpty: Bool { entries.isEmpty }

  /// Whether the client is subscribed to a topic.
  func matches(_ topic: String) -> Bool {
    entries.contains { $0.pattern.matches(topic) }
  }

  /// Whether the client was subscribed to the topic of an event when it was published.
  func matches(_ event: PublishedEvent) -> Bool {
    entries.contains { $0.lastEvent < event.number && $0.pattern.matches(event.topic) }
  }

  private mutating func updateKinds() {
    kinds = entries.reduce(into: []) { $0.formUnion($1.pattern.kinds) }
  }
}

extension Subscriptions {
  /// The JSON form on the wire.
  var value: Value {
    ["topics": .array(patterns.map { .string($0.text) })]
  }
}

/// The subscriptions of the clients of one session.
struct Subscribers {
  /// The clients' subscriptions. They are few, and searched for every event.
  private(set) var clients: [(id: ClientID, subscriptions: Subscriptions)] = []
  /// The kinds of the session's own events that any client wants.
  private(set) var kinds: SessionEvent.EventKinds = []
  private let limits: Limits

  init(limits: Limits) {
    self.limits = limits
  }

  subscript(client: ClientID) -> Subscriptions {
    clients.first { $0.id == client }?.subscriptions ?? Subscriptions()
  }

  /// Adds patterns for a client, and returns those that are new. `lastEvent` is the number of the
  /// last event that was published before. If there are too many, throws 2429 and changes nothing.
  mutating func add(
    _ patterns: [TopicPattern], for client: ClientID, after lastEvent: UInt64
  ) throws(CallError) -> [TopicPattern] {
    let limit = limits.maxSubscriptions
    let new = try change(client) { (subscriptions) throws(CallError) in
      try subscriptions.add(patterns, after: lastEvent, limit: limit)
    }
    updateKinds()
    return new
  }

  /// Removes patterns of a client. If one of them is not there, throws -32602 and changes nothing.
  mutating func remove(_ patterns: [TopicPattern], of client: ClientID) throws(CallError) {
    try change(client) { (subscriptions) throws(CallError) in
      try subscriptions.remove(patterns)
    }
    updateKinds()
  }

  private mutating func change<Result>(
    _ client: ClientID, _ change: (inout Subscriptions) throws(CallError) -> Result
  ) throws(CallError) -> Result {
    var subscriptions = self[client]
    let result = try change(&subscriptions)
    clients.removeAll { $0.id == client }
    if !subscriptions.isEmpty { clients.append((client, subscriptions)) }
    return result
  }

  /// Removes the subscriptions of a client that has left.
  mutating func removeAll(of client: ClientID) {
    clients.removeAll { $0.id == client }
    updateKinds()
  }

  private mutating func updateKinds() {
    kinds = clients.reduce(into: []) { $0.formUnion($1.subscriptions.kinds) }
  }
}
