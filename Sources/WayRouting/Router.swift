import Synchronization
import WayValues

/// The routes of an app, changed at run time from any thread.
///
/// A change takes a lock; a lookup reads a ``RouterSnapshot``, which is made by the first reader
/// after a change, so that many changes in a row cost no more than one. It shares with the one
/// before what has not changed; when much has, its parts are made anew aside, while readers go on
/// with what they have. A table that is loaded or changed makes a snapshot at once: until it is
/// there, readers go on with the one before.
public final class Router: Sendable {
  private let state = Mutex(RouterState())
  /// What is in force, for readers; nil from a change until somebody reads. The state's lock is
  /// taken before this one, which nobody holds while anything is made.
  private let latest = Mutex<RouterSnapshot?>(nil)
  private let changes = Atomic(0)
  let startup = RouterStartup()

  /// A router with the built-in dispatchers and no routes.
  public init() {}

  /// How often the router has changed; a snapshot with another number is out of date.
  package var version: Int { changes.load(ordering: .acquiring) }

  /// The router as it is now. Takes a lock, if only for a moment: keep it for many lookups in a
  /// row.
  public func snapshot() -> RouterSnapshot {
    if let snapshot = latest.withLock({ $0 }) { return snapshot }
    typealias Made = (RouterSnapshot, SnapshotParts.Order?, before: RouteTable?)
    let (snapshot, order, before) = state.withLock { state -> Made in
      if let snapshot = latest.withLock({ $0 }) { return (snapshot, nil, nil) }
      let before = state.renewRoutes()
      let snapshot = RouterSnapshot(&state, version: version)
      latest.withLock { $0 = snapshot }
      return (snapshot, state.parts.order(), before)
    }
    // What was made before is freed after the lock.
    withExtendedLifetime(before) {}
    if let order { Task.detached { [weak self] in self?.carryOut(order) } }
    return snapshot
  }

  /// Makes the table of routes anew, while readers go on with the one that they have. Costs by how
  /// many routes there are.
  func carryOut(_ order: SnapshotParts.Order) {
    var made = RouteTable(order.table.routes)
    while true {
      let (isTaken, changes) = state.withLock { state in
        let result = state.take(&made, of: order)
        // Readers let go of the one before.
        if result.isTaken { tell(nil) }
        return result
      }
      if isTaken || changes.isEmpty { return }
      for (place, route) in changes { made.put(route, at: place) }
    }
  }

  /// Reads under the lock.
  func read<Result: Sendable>(_ body: @Sendable (RouterState) -> Result) -> Result {
    state.withLock { body($0) }
  }

  /// Runs `change` under the lock.
  func changeAlways<Result: Sendable>(
    _ change: @Sendable (inout RouterState) -> Result
  ) -> Result {
    state.withLock { state in
      let result = change(&state)
      tell(nil)
      return result
    }
  }

  /// As ``change(_:)``, with the snapshot made before readers hear of the change: they go on with
  /// the one that they have, instead of making it while calls wait.
  func changeAside(
    _ change: @Sendable (inout RouterState) throws(RouterError) -> Void
  ) throws(RouterError) {
    let before = try state.withLock { (state) throws(RouterError) in
      try change(&state)
      let before = state.renewRoutes()
      tell(RouterSnapshot(&state, version: version + 1))
      return before
    }
    // What was made before is freed after the lock.
    withExtendedLifetime(before) {}
  }

  /// Runs `change` under the lock; when it throws, nothing has changed.
  func change<Result: Sendable>(
    _ change: @Sendable (inout RouterState) throws(RouterError) -> Result
  ) throws(RouterError) -> Result {
    try state.withLock { (state) throws(RouterError) -> Result in
      let result = try change(&state)
      tell(nil)
      return result
    }
  }

  /// Readers hear of a change. Under the state's lock.
  private func tell(_ snapshot: RouterSnapshot?) {
    let before = latest.withLock { latest in
      defer { latest = snapshot }
      return latest
    }
    // What nobody holds of the one before is freed after the lock, for which readers may wait.
    withExtendedLifetime(before) { _ = changes.add(1, ordering: .releasing) }
  }
}
