import Synchronization
import WayValues

/// The routes of an app, which can be changed at run time from any thread.
///
/// A change takes a lock; a lookup reads an immutable ``RouterSnapshot``. If a snapshot has been
/// read, the next change builds its successor before it returns, and calls use the previous one
/// until then. So does each load of a table. After several other changes without a reader between
/// them, the first reader builds it, and other readers wait meanwhile. The cost of a build is linear
/// in the number of routes if routes were added, replaced or removed. Register many routes at once,
/// by ``register(contentsOf:)`` or as a table.
public final class Router: Sendable {
  /// The snapshot for readers.
  private enum PublishedSnapshot: Sendable {
    /// The next reader builds it.
    case outdated
    /// No reader has used it yet.
    case unread(RouterSnapshot)
    case read(RouterSnapshot)
  }

  private let builder = Mutex(RouterBuilder())
  /// A thread locks the builder before this lock, which no thread holds while it builds a snapshot.
  private let published = Mutex(PublishedSnapshot.outdated)
  private let changeCount = Atomic(0)
  let startup = RouterStartup()

  /// Creates a router with the built-in dispatchers and no routes.
  public init() {}

  /// The number of changes of the router; a snapshot with another number is out of date.
  package var version: Int { changeCount.load(ordering: .acquiring) }

  /// Returns the current snapshot. It takes a lock for a moment: use one snapshot for many lookups
  /// in a row.
  public func snapshot() -> RouterSnapshot {
    if let snapshot = readPublished() { return snapshot }
    return builder.withLock { builder in
      if let snapshot = readPublished() { return snapshot }
      let snapshot = builder.makeSnapshot(version: version)
      published.withLock { $0 = .read(snapshot) }
      return snapshot
    }
  }

  private func readPublished() -> RouterSnapshot? {
    published.withLock { published in
      switch published {
      case .outdated: return nil
      case .read(let snapshot): return snapshot
      case .unread(let snapshot):
        published = .read(snapshot)
        return snapshot
      }
    }
  }

  /// Runs `body` under the lock.
  func read<Result: Sendable>(_ body: @Sendable (RouterBuilder) -> Result) -> Result {
    builder.withLock { body($0) }
  }

  /// Runs `change` under the lock; if it throws, it must have changed nothing. The next snapshot is
  /// built at once if the current one was read, or if `buildsSnapshot`.
  func change<Result: Sendable, Failure: Error>(
    buildsSnapshot: Bool = false,
    _ change: @Sendable (inout RouterBuilder) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try builder.withLock { (builder) throws(Failure) -> Result in
      let result = try change(&builder)
      let isRead = published.withLock { if case .read = $0 { true } else { false } }
      publish(
        isRead || buildsSnapshot
          ? .unread(builder.makeSnapshot(version: version + 1)) : .outdated)
      return result
    }
  }

  /// Publishes a change to readers. Requires the builder's lock.
  private func publish(_ next: PublishedSnapshot) {
    let before = published.withLock { published in
      defer { published = next }
      return published
    }
    // The previous snapshot is freed after its lock is released, since readers may wait for it.
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
    try change(buildsSnapshot: true) { (builder) throws(RouterConfigurationError) in
      var next = builder
      try next.declare(declarations, replacing: replacing)
      builder = next
    }
  }

  /// Explains how the router resolves a URI now. It runs and changes nothing; a text that is no URI
  /// is explained too. `caller` matters if a ``RouteRollout`` applies.
  public func explain(
    _ uri: String, params: ValueObject = [:], for caller: Caller? = nil
  ) -> RouteExplanation {
    snapshot().explain(uri, params: params, for: caller)
  }
}
