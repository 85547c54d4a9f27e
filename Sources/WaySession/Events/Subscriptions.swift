import WayRPC
import WayValues

/// What one client wants to be told of, in the order in which it asked.
struct Subscriptions {
  private(set) var patterns: [TopicPattern] = []
  /// The server's own topics among them.
  private(set) var kinds: Happening.Kinds = []

  /// Adds patterns; those that are there stay where they are. Gives those that are new. Fails with
  /// 2429, and nothing has changed, where there would be more than `limit`.
  mutating func add(_ added: [TopicPattern], limit: Int) throws(CallError) -> [TopicPattern] {
    var known = Set(patterns)
    let new = added.filter { known.insert($0).inserted }
    guard patterns.count + new.count <= limit else {
      throw CallError(
        .tooMany, "A client may subscribe to \(limit) topics",
        data: ["limit": .integer(Int64(limit))])
    }
    patterns += new
    index()
    return new
  }

  /// Takes patterns out. Fails with -32602, and nothing has changed, for one that is not there.
  mutating func remove(_ removed: [TopicPattern]) throws(CallError) {
    let known = Set(patterns)
    for pattern in removed where !known.contains(pattern) {
      throw .invalidParams("This client is not subscribed to \(pattern.text.quoted)")
    }
    let gone = Set(removed)
    patterns.removeAll(where: gone.contains)
    index()
  }

  /// Whether events of a topic are wanted.
  func covers(_ topic: String) -> Bool {
    patterns.contains { $0.covers(topic) }
  }

  private mutating func index() {
    kinds = patterns.reduce(into: []) { $0.formUnion($1.kinds) }
  }
}

extension Subscriptions {
  /// As the wire has it.
  var value: Value {
    ["topics": .list(patterns.map { .string($0.text) })]
  }
}

/// What the clients of one session, and Swift code, want to be told of.
struct Subscribers {
  /// Few, and looked through with every event.
  private(set) var clients: [(id: ClientID, subscriptions: Subscriptions)] = []
  /// What Swift code wants of the session's own events.
  private var swift: Happening.Kinds
  /// What who watches the server wants of them.
  private var watched: Happening.Kinds
  /// What anybody wants of the session's own events.
  private(set) var kinds: Happening.Kinds
  private let limits: Limits

  init(
    limits: Limits, heardBySwift kinds: Happening.Kinds, watched: Happening.Kinds = []
  ) {
    self.limits = limits
    swift = kinds
    self.watched = watched
    self.kinds = kinds.union(watched)
  }

  subscript(client: ClientID) -> Subscriptions {
    clients.first { $0.id == client }?.subscriptions ?? Subscriptions()
  }

  /// Whether Swift code wants happenings of a kind.
  func isHeardBySwift(_ kind: Happening.Kinds) -> Bool { swift.contains(kind) }

  /// Gives the patterns that are new. Fails with 2429, and nothing has changed, for too many.
  mutating func add(
    _ patterns: [TopicPattern], for client: ClientID
  ) throws(CallError) -> [TopicPattern] {
    let limit = limits.maxSubscriptions
    let new = try change(client) { (subscriptions) throws(CallError) in
      try subscriptions.add(patterns, limit: limit)
    }
    index()
    return new
  }

  /// Fails with -32602, and nothing has changed, for one that is not there.
  mutating func remove(_ patterns: [TopicPattern], of client: ClientID) throws(CallError) {
    try change(client) { (subscriptions) throws(CallError) in
      try subscriptions.remove(patterns)
    }
    index()
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

  /// A client has left.
  mutating func removeAll(of client: ClientID) {
    clients.removeAll { $0.id == client }
    index()
  }

  /// What Swift code wants has changed.
  mutating func swiftHears(_ kinds: Happening.Kinds) {
    swift = kinds
    index()
  }

  /// What who watches the server wants has changed.
  mutating func watchSees(_ kinds: Happening.Kinds) {
    watched = kinds
    index()
  }

  private mutating func index() {
    kinds = clients.reduce(into: swift.union(watched)) { $0.formUnion($1.subscriptions.kinds) }
  }
}
