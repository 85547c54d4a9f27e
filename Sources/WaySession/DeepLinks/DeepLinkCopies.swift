import WayTransport

/// The copies of one deep link that several sessions of an audience on this server have. If none of
/// them is followed, the link waits for another session when the last one has ended.
final class DeepLinkCopies: Sendable {
  private struct CopyCount {
    var waiting = 0
    var isFollowed = false
  }

  private let state = Locked(CopyCount())

  /// Counts one more copy.
  func add() { state.withLock { $0.waiting += 1 } }

  /// Records that a session follows its copy.
  func markFollowed() { state.withLock { $0.isFollowed = true } }

  /// Removes a copy that its session has not followed. Returns whether the link has to wait for
  /// another session.
  func remove() -> Bool {
    state.withLock { state in
      state.waiting -= 1
      return state.waiting == 0 && !state.isFollowed
    }
  }
}
