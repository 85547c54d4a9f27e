/// Keeps a snapshot and takes a new one when the router has changed. For one thread.
package struct SnapshotReader {
  private let router: Router
  private var snapshot: RouterSnapshot

  /// Takes the router's snapshot, which builds it when nobody has before.
  package init(_ router: Router) {
    self.router = router
    snapshot = router.snapshot()
  }

  /// The snapshot that is in force: one atomic load while nothing changes.
  package mutating func current() -> RouterSnapshot {
    if router.version != snapshot.version { snapshot = router.snapshot() }
    return snapshot
  }
}
