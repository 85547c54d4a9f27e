import Synchronization
import WayValues

/// The routes of an app, which can be changed at run time from any thread.
///
/// A change takes a lock; a lookup reads a ``RouterSnapshot``. The first reader after a change
/// builds the snapshot, so that many changes in a row cost no more than one. It shares unchanged
/// parts with the previous snapshot. After many changes, its parts are rebuilt in the background,
/// while readers use the current ones.
///
/// A table that is loaded or changed builds a snapshot at once. Readers use the previous one until
/// then.
public final class Router: Sendable {
  private let state = Mutex(RouterState())
  /// The current snapshot, for readers; `nil` from a change until the next read. A thread
  /// locks the state before this lock, which no thread holds while it builds a snapshot.
  private let latestSnapshot = Mutex<RouterSnapshot?>(nil)
  private let changeCount = Atomic(0)
  let startup = RouterStartup()

  /// Creates a router with the built-in dispatchers and no routes.
  public init() {}

  /// The number of changes of the router; a snapshot with another number is out of date.
  package var version: Int { changeCount.load(ordering: .acquiring) }

  /// Returns the current snapshot. It takes a lock for a moment: use one snapshot for many lookups
  /// in a row.
  public func snapshot() -> RouterSnapshot {
    if let snapshot = latestSnapshot.withLock({ $0 }) { return snapshot }
    typealias BuiltSnapshot = (
      RouterSnapshot, RouterSnapshotParts.RoutesRebuild?, before: RoutingTable?
    )
    let (snapshot, rebuild, before) = state.withLock { state -> BuiltSnapshot in
      if let snapshot = latestSnapshot.withLock({ $0 }) { return (snapshot, nil, nil) }
      let before = state.refreshRoutes()
      let snapshot = state.makeSnapshot(version: version)
      latestSnapshot.withLock { $0 = snapshot }
      return (snapshot, state.parts.beginRebuild(), before)
    }
    // The previous table is freed after the lock is released.
    withExtendedLifetime(before) {}
    if let rebuild { Task.detached { [weak self] in self?.rebuildRoutes(rebuild) } }
    return snapshot
  }

  /// Rebuilds the table of routes, while readers use the current one. The cost is linear in the
  /// number of routes.
  func rebuildRoutes(_ rebuild: RouterSnapshotParts.RoutesRebuild) {
    var table = RoutingTable(rebuild.table.routes)
    while true {
      let (isAdopted, changes) = state.withLock { state in
        let result = state.adopt(&table, of: rebuild)
        // Readers release the previous table.
        if result.isAdopted { publish(nil) }
        return result
      }
      if isAdopted || changes.isEmpty { return }
      for (place, route) in changes { table.put(route, at: place) }
    }
  }

  /// Runs `body` under the lock.
  func read<Result: Sendable>(_ body: @Sendable (RouterState) -> Result) -> Result {
    state.withLock { body($0) }
  }

  /// Runs `change` under the lock.
  func changeUnconditionally<Result: Sendable>(
    _ change: @Sendable (inout RouterState) -> Result
  ) -> Result {
    state.withLock { state in
      let result = change(&state)
      publish(nil)
      return result
    }
  }

  /// Runs `change` as ``change(_:)`` does, and builds the snapshot before it is published. Readers
  /// use the current one until then, instead of building it while calls wait.
  func changeEagerly(
    _ change: @Sendable (inout RouterState) throws(RouterConfigurationError) -> Void
  ) throws(RouterConfigurationError) {
    let before = try state.withLock { (state) throws(RouterConfigurationError) in
      try change(&state)
      let before = state.refreshRoutes()
      publish(state.makeSnapshot(version: version + 1))
      return before
    }
    // The previous table is freed after the lock is released.
    withExtendedLifetime(before) {}
  }

  /// Runs `change` under the lock; if it throws, nothing has changed.
  func change<Result: Sendable>(
    _ change: @Sendable (inout RouterState) throws(RouterConfigurationError) -> Result
  ) throws(RouterConfigurationError) -> Result {
    try state.withLock { (state) throws(RouterConfigurationError) -> Result in
      let result = try change(&state)
      publish(nil)
      return result
    }
  }

  /// Publishes a change to readers. Requires the state's lock.
  private func publish(_ snapshot: RouterSnapshot?) {
    let before = latestSnapshot.withLock { latest in
      defer { latest = snapshot }
      return latest
    }
    // Unshared parts of the previous snapshot are freed after the lock is released, since readers
    // may wait for it.
    withExtendedLifetime(before) { _ = changeCount.add(1, ordering: .releasing) }
  }
}

extension Router {
  /// Adds routes, redirects and rules. If `replacing` is `true`, they replace all earlier
  /// declarations; registrations and settings of other code stay. If one part is rejected, nothing
  /// changes.
  package func declare(
    _ declarations: RouterDeclarations, replacing: Bool = false
  ) throws(RouterConfigurationError) {
    try changeEagerly { (state) throws(RouterConfigurationError) in
      var next = state
      try next.declare(declarations.routes, replacing: replacing)
      try next.redirects.declare(declarations.redirects, replacing: replacing)
      if replacing {
        next.declared = DeclaredRules()
      }
      next.declared.add(declarations)
      next.settings.table = declarations.stamp
      state = next
    }
  }
}

extension Router {
  /// Explains how the router resolves a URI now. It runs and changes nothing; a text that is no URI
  /// is explained too. `caller` matters if a ``RouteRollout`` applies.
  public func explain(
    _ uri: String, params: ValueObject = [:], for caller: Caller? = nil
  ) -> RouteExplanation {
    snapshot().explain(uri, params: params, for: caller)
  }
}
