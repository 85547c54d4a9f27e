import WayValues

/// The peer's requests over one connection that this side has not answered yet.
///
/// Each is known by a number, which is larger than those before: for calls of any type, each step
/// would ask for that type first.
package struct CallsInFlight {
  private var calls: [RequestID: Int] = [:]
  private let limit: Int
  /// Calls that have ended for the peer, while others work on them: they count as before.
  package private(set) var owed = 0

  /// How many there are, those owed among them.
  package var count: Int { calls.count + owed }

  /// Holds at most `limit` calls.
  package init(limit: Int = 256) {
    self.limit = limit
  }

  /// Whether a request may begin: enough for one that is answered before the next message is looked
  /// at. Fails with ``ErrorCode/conflict`` for an id in flight, and with ``ErrorCode/tooMany`` at
  /// the limit.
  package func check(_ id: RequestID) throws(CallError) {
    if count == 0 { return }
    if calls[id] != nil {
      throw CallError(
        .conflict, "a request with the id \(id) is in flight already", kind: "duplicateID")
    }
    if count >= limit {
      throw CallError(
        .tooMany,
        "at most \(limit) requests may be in flight, those counted that were cancelled and that a "
          + "host has not answered; wait for an answer",
        data: ["limit": .integer(Int64(limit))])
    }
  }

  /// Keeps a request until its answer. Fails as ``check(_:)`` does; then a call of this id goes on
  /// as it was.
  package mutating func begin(_ id: RequestID, _ call: Int) throws(CallError) {
    if count >= limit { try check(id) }
    if let other = calls.updateValue(call, forKey: id) {
      calls[id] = other
      try check(id)
    }
  }

  /// A call has ended whose work goes on.
  package mutating func owe() { owed += 1 }

  /// The work on such a call has ended.
  package mutating func paid() { owed -= 1 }

  /// The call in flight under an id, for `$/cancelRequest`.
  package subscript(id: RequestID) -> Int? { calls[id] }

  /// Hands out a call that gets its answer now, once; nil when it has it already.
  package mutating func end(_ id: RequestID) -> Int? {
    calls.removeValue(forKey: id)
  }

  /// Hands out all that is left, oldest first, when no answer can be sent any more.
  package mutating func drain() -> [Int] {
    defer { calls = [:] }
    return calls.values.sorted()
  }
}
