import WayRPC
import WayValues

/// What one client wants to be told of, in the order in which it asked.
struct Subscriptions {
  private(set) var patterns: [TopicPattern] = []
  /// The server's own topics among them.
  private(set) var families: TopicFamilies = []

  /// Adds patterns; those that are there stay where they are. Gives those that are new. Fails with 2429, and
  /// nothing has changed, where there would be more than `limit`.
  mutating func add(_ added: [TopicPattern], limit: Int) throws(RPCError) -> [TopicPattern] {
    var known = Set(patterns)
    let new = added.filter { known.insert($0).inserted }
    guard patterns.count + new.count <= limit else {
      throw RPCError(
        .tooMany, "A client may subscribe to \(limit) topics",
        data: ["limit": .integer(Int64(limit))])
    }
    patterns += new
    index()
    return new
  }

  /// Takes patterns out. Fails with -32602, and nothing has changed, for one that is not there.
  mutating func remove(_ removed: [TopicPattern]) throws(RPCError) {
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
    families = patterns.reduce(into: []) { $0.formUnion($1.families) }
  }
}

extension MethodParams {
  /// The `topics` of a request.
  func topics(limits: Limits) throws(RPCError) -> [TopicPattern] {
    let values = try required("topics")
    // So many at once are looked at as may stand in one client's list: the rest is refused unread.
    guard values.count <= limits.maxSubscriptions else {
      throw RPCError(.tooMany, "A client may subscribe to \(limits.maxSubscriptions) topics")
    }
    var patterns: [TopicPattern] = []
    for (position, value) in values.enumerated() {
      let path = "params.topics[\(position)]"
      guard let text = value.string else {
        throw .invalidParams("\(path) must be a string, not \(value.kindName)")
      }
      do {
        patterns.append(try TopicPattern(text, limit: limits.maxTopic))
      } catch {
        throw .invalidParams("\(path) \(error.reason)")
      }
    }
    return patterns
  }
}
