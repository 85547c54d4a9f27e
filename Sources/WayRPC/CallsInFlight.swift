import WayValues

/// The peer's requests over one connection that this side has not answered yet.
///
/// What a session needs with each call is made for its numbers too: for calls of any type, each step
/// would ask for that type first.
package struct CallsInFlight<Call> {
  private var calls: [RequestID: (order: UInt64, call: Call)] = [:]
  private var begun: UInt64 = 0
  private let limit: Int
  /// How many there are, those owed among them; kept apart, since asking the dictionary costs a look
  /// at its type in every call.
  package private(set) var count = 0
  /// Calls that have ended for the peer, while others work on them: they count as before.
  package private(set) var owed = 0

  /// Holds at most `limit` calls.
  package init(limit: Int = 256) {
    self.limit = limit
  }

  /// Whether a request may begin: enough for one that is answered before the next message is looked
  /// at. Fails with ``ErrorCode/conflict`` for an id in flight, and with ``ErrorCode/tooMany`` at
  /// the limit.
  package func check(_ id: RequestID) throws(CallError) {
    if count == 0 { return }
    try checkAmongOthers(id)
  }

  @_specialize(where Call == Int)
  package func checkAmongOthers(_ id: RequestID) throws(CallError) {
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
  @_specialize(where Call == Int)
  package mutating func begin(_ id: RequestID, _ call: Call) throws(CallError) {
    if count >= limit { try checkAmongOthers(id) }
    begun += 1
    if let other = calls.updateValue((begun, call), forKey: id) {
      calls[id] = other
      try checkAmongOthers(id)
    }
    count = calls.count + owed
  }

  /// A call has ended whose work goes on.
  package mutating func owe() {
    owed += 1
    count += 1
  }

  /// The work on such a call has ended.
  package mutating func paid() {
    owed -= 1
    count -= 1
  }

  /// The call in flight under an id, for `$/cancelRequest`.
  package subscript(id: RequestID) -> Call? { calls[id]?.call }

  /// Hands out a call that gets its answer now, once; nil when it has it already.
  @_specialize(where Call == Int)
  package mutating func end(_ id: RequestID) -> Call? {
    defer { count = calls.count + owed }
    return calls.removeValue(forKey: id)?.call
  }

  /// Hands out all that is left, oldest first, when no answer can be sent any more.
  package mutating func drain() -> [Call] {
    defer {
      calls = [:]
      count = owed
    }
    return calls.values.sorted { $0.order < $1.order }.map(\.call)
  }
}
