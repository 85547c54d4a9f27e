import Synchronization
import WayValues

/// The routes of an app, changed at run time from any thread.
///
/// A change takes a lock; a lookup reads a ``RouterSnapshot``, which is made by the first reader
/// after a change, so that many changes in a row cost no more than one.
public final class Router: Sendable {
  private struct Held: Sendable {
    var state = RouterState()
    var snapshot: RouterSnapshot?
  }

  private let held = Mutex(Held())
  private let changes = Atomic(0)
  let startup = Startup()

  /// A router with the built-in dispatchers and no routes.
  public init() {}

  /// How often the router has changed; a snapshot with another number is out of date.
  package var version: Int { changes.load(ordering: .acquiring) }

  /// The router as it is now. Takes the lock, if only for a moment: keep it for many lookups in a
  /// row.
  public func snapshot() -> RouterSnapshot {
    held.withLock { held in
      if let snapshot = held.snapshot { return snapshot }
      let snapshot = RouterSnapshot(held.state, version: version)
      held.snapshot = snapshot
      return snapshot
    }
  }

  /// Reads under the lock.
  func read<Result: Sendable>(_ body: @Sendable (RouterState) -> Result) -> Result {
    held.withLock { body($0.state) }
  }

  /// Runs `change` under the lock.
  func changeAlways<Result: Sendable>(
    _ change: @Sendable (inout RouterState) -> Result
  ) -> Result {
    held.withLock { held in
      let result = change(&held.state)
      held.snapshot = nil
      changes.add(1, ordering: .releasing)
      return result
    }
  }

  /// As ``change(_:)``, with the snapshot made before readers hear of the change: they go on with
  /// the one that they have, instead of making it while calls wait.
  func changeAside(
    _ change: @Sendable (inout RouterState) throws(RouterError) -> Void
  ) throws(RouterError) {
    try held.withLock { (held) throws(RouterError) in
      try change(&held.state)
      held.snapshot = RouterSnapshot(held.state, version: version + 1)
      changes.add(1, ordering: .releasing)
    }
  }

  /// Runs `change` under the lock; when it throws, nothing has changed.
  func change<Result: Sendable>(
    _ change: @Sendable (inout RouterState) throws(RouterError) -> Result
  ) throws(RouterError) -> Result {
    try held.withLock { (held) throws(RouterError) -> Result in
      let result = try change(&held.state)
      held.snapshot = nil
      changes.add(1, ordering: .releasing)
      return result
    }
  }
}
