import WayValues

/// The calls that this side made over one connection and that have no response yet.
///
/// Completions are stored as any object, so that no operation needs a type of another module, and
/// changed in place.
package struct PendingCalls<Completion: AnyObject> {
  private var completions: [Int64: AnyObject] = [:]
  private var lastID: Int64 = 0
  private let limit: Int

  /// Creates a table of at most `limit` calls, with ids after `lastID`.
  package init(limit: Int = 1024, after lastID: Int64 = 0) {
    self.limit = limit
    self.lastID = lastID
  }

  package var count: Int { completions.count }

  /// Stores the completion of a new call and returns the id of the call: 1, 2, 3, …, never used
  /// twice. Fails with ``ErrorCode/tooMany`` if too many calls have no response; `beyond` are
  /// allowed over the limit.
  package mutating func add(
    _ completion: Completion, beyond: Int = 0
  ) throws(CallError) -> RequestID {
    guard completions.count < limit + beyond else {
      throw CallError(
        .tooMany, "the peer has not answered \(limit) calls; no more are sent until it does",
        data: ["limit": .integer(Int64(limit))])
    }
    lastID += 1
    completions[lastID] = completion
    return .integer(lastID)
  }

  /// Adds a call that was pending before a restart.
  package mutating func restore(_ id: RequestID, _ completion: Completion) {
    guard case .integer(let id) = id else { return }
    completions[id] = completion
  }

  /// Removes and returns the completion of a call; `nil` for an id that is not, or no longer,
  /// pending.
  package mutating func remove(_ id: RequestID) -> Completion? {
    guard case .integer(let id) = id else { return nil }
    return completions.removeValue(forKey: id).map(Self.completion)
  }

  /// The completion of a pending call, for progress.
  package subscript(id: RequestID) -> Completion? {
    guard case .integer(let id) = id else { return nil }
    return completions[id].map(Self.completion)
  }

  /// Returns the calls that fit, with their ids, oldest first; they stay pending.
  package func all(
    where fits: (RequestID, Completion) -> Bool = { _, _ in true }
  ) -> [(id: RequestID, completion: Completion)] {
    completions.sorted { $0.key < $1.key }
      .map { (RequestID.integer($0.key), Self.completion($0.value)) }
      .filter { fits($0.0, $0.1) }
  }

  /// Removes and returns the completions that fit, oldest first.
  package mutating func remove(where fits: (Completion) -> Bool) -> [Completion] {
    let ids = completions.filter { fits(Self.completion($0.value)) }.map(\.key).sorted()
    return ids.compactMap { completions.removeValue(forKey: $0) }.map(Self.completion)
  }

  /// Removes and returns all completions, oldest first, when no response can arrive any more.
  package mutating func drain() -> [Completion] {
    defer { completions = [:] }
    return completions.sorted { $0.key < $1.key }.map { Self.completion($0.value) }
  }

  /// Casts a stored object: only ``add(_:beyond:)`` stores any.
  private static func completion(_ object: AnyObject) -> Completion {
    unsafeDowncast(object, to: Completion.self)
  }
}
