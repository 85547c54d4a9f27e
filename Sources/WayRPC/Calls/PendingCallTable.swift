import WayValues

/// The peer's requests over one connection that this side has not responded to yet.
///
/// Each has a number that is larger than all earlier ones. With calls of any type, each operation
/// would need type metadata first.
package struct PendingCallTable {
  private var calls: [RequestID: Int] = [:]
  private let limit: Int
  /// The number of calls that have ended for the peer, while other code works on them. They count
  /// towards the limit.
  package private(set) var detachedCount = 0
  /// The number of calls in flight that do not count towards the limit.
  package private(set) var uncountedCount = 0

  /// The number of calls that count towards the limit, including detached ones.
  package var count: Int { calls.count + detachedCount - uncountedCount }

  /// Whether no call is in flight.
  package var isEmpty: Bool { calls.isEmpty }

  /// Creates a table of at most `limit` calls.
  package init(limit: Int = 256) {
    self.limit = limit
  }

  /// Checks whether a request may begin; this suffices for a request whose response is sent before
  /// the next message is read. Fails with ``ErrorCode/conflict`` for an id in flight, and with
  /// ``ErrorCode/tooMany`` at the limit.
  package func check(_ id: RequestID) throws(CallError) {
    if calls.isEmpty, detachedCount == 0 { return }
    if calls[id] != nil {
      throw CallError(
        .conflict, "a request with the id \(id) is already in flight", kind: "duplicateID")
    }
    if count >= limit {
      throw CallError(
        .tooMany,
        "at most \(limit) requests may be in flight, including cancelled ones that a host has not "
          + "answered, and without those whose page is shown; wait for a response",
        data: ["limit": .integer(Int64(limit))])
    }
  }

  /// Stores a request until its response. Fails as ``check(_:)`` does; an earlier call with this id
  /// is unaffected.
  package mutating func begin(_ id: RequestID, _ call: Int) throws(CallError) {
    if count >= limit { try check(id) }
    if let other = calls.updateValue(call, forKey: id) {
      calls[id] = other
      try check(id)
    }
  }

  /// Counts a call that has ended while the work on it continues.
  package mutating func addDetached() { detachedCount += 1 }

  /// Stops counting such a call, because the work on it has ended.
  package mutating func removeDetached() { detachedCount -= 1 }

  /// Stops counting a call in flight towards the limit. It stays in flight until it ends, and the
  /// caller remembers that it is not counted.
  package mutating func stopCounting() { uncountedCount += 1 }

  /// The call in flight with an id, for `$/cancelRequest`.
  package subscript(id: RequestID) -> Int? { calls[id] }

  /// Removes and returns the call whose response is sent now; `nil` if its response was sent
  /// already. `isCounted` is false for a call that ``stopCounting()`` was called for.
  package mutating func end(_ id: RequestID, isCounted: Bool = true) -> Int? {
    guard let call = calls.removeValue(forKey: id) else { return nil }
    if !isCounted { uncountedCount -= 1 }
    return call
  }

  /// Removes and returns all calls, oldest first, when no response can be sent any more.
  package mutating func drain() -> [Int] {
    defer {
      calls = [:]
      uncountedCount = 0
    }
    return calls.values.sorted()
  }
}
