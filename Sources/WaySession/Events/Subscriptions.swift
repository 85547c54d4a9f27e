import WayRPC
import WayValues

/// The topics to which one client is subscribed, in the order of its requests.
struct Subscriptions {
  private(set) var patterns: [TopicPattern] = []
  /// The kinds of the server's own events among them.
  private(set) var kinds: SessionEvent.EventKinds = []

  /// Adds patterns, and returns those that are new; existing ones keep their positions. If there
  /// would be more than `limit`, throws 2429 and changes nothing.
  mutating func add(_ added: [TopicPattern], limit: Int) throws(CallError) -> [TopicPattern] {
    var known = Set(patterns)
    let new = added.filter { known.insert($0).inserted }
    guard patterns.count + new.count <= limit else {
      throw CallError(
        .tooMany, "A client may subscribe to at most \(limit) topics",
        data: ["limit": .integer(Int64(limit))])
    }
    patterns += new
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
    patterns.removeAll(where: removedSet.contains)
    updateKinds()
  }

  /// Whether the client is subscribed to a topic.
  func matches(_ topic: String) -> Bool {
    patterns.contains { $0.matches(topic) }
  }

  private mutating func updateKinds() {
    kinds = patterns.reduce(into: []) { $0.formUnion($1.kinds) }
  }
}

extension Subscriptions {
  /// The JSON form on the wire.
  var value: Value {
    ["topics": .array(patterns.map { .string($0.text) })]
  }
}

/// The subscriptions of the clients of one session, and of Swift code.
struct Subscribers {
  /// The clients' subscriptions. They are few, and searched for every event.
  private(set) var clients: [(id: ClientID, subscriptions: Subscriptions)] = []
  /// The kinds of the session's own events that Swift code wants.
  private var appKinds: SessionEvent.EventKinds
  /// The kinds that inspectors of the server want.
  private var inspectorKinds: SessionEvent.EventKinds
  /// The kinds that any subscriber wants.
  private(set) var kinds: SessionEvent.EventKinds
  private let limits: Limits

  init(
    limits: Limits, appKinds kinds: SessionEvent.EventKinds,
    inspectorKinds: SessionEvent.EventKinds = []
  ) {
    self.limits = limits
    appKinds = kinds
    self.inspectorKinds = inspectorKinds
    self.kinds = kinds.union(inspectorKinds)
  }

  subscript(client: ClientID) -> Subscriptions {
    clients.first { $0.id == client }?.subscriptions ?? Subscriptions()
  }

  /// Whether Swift code wants events of a kind.
  func isSubscribedByApp(_ kind: SessionEvent.EventKinds) -> Bool { appKinds.contains(kind) }

  /// Adds patterns for a client, and returns those that are new. If there are too many, throws 2429
  /// and changes nothing.
  mutating func add(
    _ patterns: [TopicPattern], for client: ClientID
  ) throws(CallError) -> [TopicPattern] {
    let limit = limits.maxSubscriptions
    let new = try change(client) { (subscriptions) throws(CallError) in
      try subscriptions.add(patterns, limit: limit)
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
    if !subscriptions.patterns.isEmpty { clients.append((client, subscriptions)) }
    return result
  }

  /// Removes the subscriptions of a client that has left.
  mutating func removeAll(of client: ClientID) {
    clients.removeAll { $0.id == client }
    updateKinds()
  }

  /// Sets the kinds that Swift code wants.
  mutating func setAppKinds(_ kinds: SessionEvent.EventKinds) {
    appKinds = kinds
    updateKinds()
  }

  /// Sets the kinds that inspectors want.
  mutating func setInspectorKinds(_ kinds: SessionEvent.EventKinds) {
    inspectorKinds = kinds
    updateKinds()
  }

  private mutating func updateKinds() {
    kinds = clients.reduce(into: appKinds.union(inspectorKinds)) {
      $0.formUnion($1.subscriptions.kinds)
    }
  }
}
