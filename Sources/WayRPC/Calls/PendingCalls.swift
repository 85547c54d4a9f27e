import WayValues

/// The calls that this side made over one connection and that the peer has not answered yet.
///
/// They are kept as any object, so that a step asks for no type of another module, and changed where
/// they are.
package struct PendingCalls<Completion: AnyObject> {
  private var completions: [Int64: AnyObject] = [:]
  private var lastID: Int64 = 0
  private let limit: Int

  /// Holds at most `limit` calls; gives ids after a number.
  package init(limit: Int = 1024, after lastID: Int64 = 0) {
    self.limit = limit
    self.lastID = lastID
  }

  package var count: Int { completions.count }

  /// Keeps what settles a new call and gives the call its id: 1, 2, 3, …, never used twice.
  /// Fails with ``ErrorCode/tooMany`` when the peer owes too many answers; `beyond` are allowed
  /// over the limit.
  package mutating func add(
    _ completion: Completion, beyond: Int = 0
  ) throws(CallError) -> RequestID {
    guard completions.count < limit + beyond else {
      throw CallError(
        .tooMany, "the peer has not answered \(limit) calls; no more are made until it does",
        data: ["limit": .integer(Int64(limit))])
    }
    lastID += 1
    completions[lastID] = completion
    return .integer(lastID)
  }

  /// Hands out what settles a call, once; nil for an id that is not, or no longer, waited for.
  package mutating func take(_ id: RequestID) -> Completion? {
    guard case .integer(let id) = id else { return nil }
    return completions.removeValue(forKey: id).map(Self.completion)
  }

  /// What a call is settled with, left in its place; for progress.
  package subscript(id: RequestID) -> Completion? {
    guard case .integer(let id) = id else { return nil }
    return completions[id].map(Self.completion)
  }

  /// Those that fit, with their ids, oldest first; they are still waited for.
  package func all(
    where fits: (RequestID, Completion) -> Bool = { _, _ in true }
  ) -> [(id: RequestID, completion: Completion)] {
    completions.sorted { $0.key < $1.key }
      .map { (RequestID.integer($0.key), Self.completion($0.value)) }
      .filter { fits($0.0, $0.1) }
  }

  /// Hands out those that fit, oldest first.
  package mutating func remove(where fits: (Completion) -> Bool) -> [Completion] {
    let ids = completions.filter { fits(Self.completion($0.value)) }.map(\.key).sorted()
    return ids.compactMap { completions.removeValue(forKey: $0) }.map(Self.completion)
  }

  /// Hands out all that is left, oldest first, when no answer can come any more.
  package mutating func drain() -> [Completion] {
    defer { completions = [:] }
    return completions.sorted { $0.key < $1.key }.map { Self.completion($0.value) }
  }

  /// What was kept: only ``add(_:beyond:)`` keeps anything.
  private static func completion(_ kept: AnyObject) -> Completion {
    unsafeDowncast(kept, to: Completion.self)
  }
}
