import Synchronization
import WayTransport

/// Passes changes of the sessions of one loop to the store, one write at a time. Each write
/// contains all changes that were made during the previous one. Confined to that loop.
///
/// If the store fails, the bridge continues without it, reports the failure, and stores everything
/// again as soon as possible. If other servers share the store, they may take the sessions over.
/// Messages that depend on a change then wait until it is stored.
///
/// If very many sessions have changed, their changes are made, and the messages that wait for them are
/// released, in several turns of the loop. The next write does not wait for that: its releases are
/// added to those that have not begun, of which there is at most one for each session. So clients
/// that change many sessions faster than messages are released make nothing grow.
package final class SessionStoreWriter: @unchecked Sendable {
  /// Starts a walk, which visits the numbers below `count` in as many turns of the loop as that
  /// takes, then calls `completion`. Each visit counts as at least `cost` nanoseconds.
  typealias WalkStart =
    @Sendable (
      _ count: Int, _ cost: UInt64, _ visit: @escaping @Sendable (Int) -> Void,
      _ completion: @escaping @Sendable () -> Void
    ) -> Void

  private typealias PendingChange = (journal: SessionJournal, change: SessionChange, number: Int)
  private typealias SubmittedChange = (journal: SessionJournal, number: Int)

  /// Whether changes are passed to the store.
  private enum StoreHealth {
    /// The store has stored the last write. Becomes `releasing` or, if other servers share the
    /// store, `failed` when a write fails.
    case working
    /// The store has failed, and a walk releases all messages, because nothing will be stored. Becomes
    /// `failed` when the walk ends.
    case releasing(reason: String)
    /// Nothing is written until a retry is due. A shared store becomes `retrying` then. Another store
    /// remains `failed` while a write of all sessions is tried: it becomes `working` or `releasing`.
    case failed(reason: String)
    /// A shared store may work again, and is passed changes. Becomes `working` or `failed` with the
    /// next write.
    case retrying(reason: String)
  }

  /// The write that is running or due.
  private enum WriteState {
    /// No change is due. Becomes `scheduled` with a change that messages wait for, or `writing`.
    case idle
    /// The next write begins in another turn of the loop. Becomes `writing`, or `idle` if nothing is
    /// left to write.
    case scheduled
    /// Changes are being made or stored. Becomes `idle` when the store has them or has failed. Changes
    /// that become due meanwhile are written next.
    case writing
  }

  /// The walk that releases messages which have waited for stored changes.
  private enum ReleaseState {
    /// No walk is running. Becomes `walking` if very many sessions have to be visited.
    case idle
    /// A walk is running. `next` has the last stored change of each journal that the next walk
    /// releases. Without any, it becomes `idle` when the walk ends.
    case walking(next: [ObjectIdentifier: SubmittedChange])
  }

  /// The number of journals that are visited in one turn without a walk.
  private static let maxVisitsAtOnce = 64
  /// The likely time to release the messages of a session, in nanoseconds.
  private static let releaseCost: UInt64 = 10_000
  /// The maximum delay of a change that no message depends on.
  private static let maxDelay: Duration = .milliseconds(100)
  /// The delay before a retry after the store has failed; doubled after each further failure.
  private static let retryDelay: (first: Duration, last: Duration) = (.seconds(1), .seconds(30))
  /// The retry delay of a shared store, for which messages wait.
  private static let sharedRetryDelay: Duration = .milliseconds(250)
  private static let maxAttempts = 20

  private let store: SessionStoreQueue
  private let loop: any EventLoop
  private let startWalk: WalkStart
  private let report: @Sendable (String?) -> Void
  private var journals: [ObjectIdentifier: SessionJournal] = [:]
  /// Journals with changes that the next write contains.
  private var urgent: [ObjectIdentifier: SessionJournal] = [:]
  /// Journals with changes that no message waits for.
  private var deferred: [ObjectIdentifier: SessionJournal] = [:]
  private var deferredTimer: (any ScheduledWork)?
  private var writeState = WriteState.idle
  /// The changes of the write that is being prepared.
  private var pendingChanges: [PendingChange] = []
  private var releaseState = ReleaseState.idle
  private var nextRetryDelay = retryDelay.first
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []
  private var health = StoreHealth.working {
    didSet { degraded.store(failure != nil, ordering: .relaxed) }
  }
  private let degraded = Atomic(false)
  /// Whether nothing is stored now. Safe to read on any thread.
  var isDegraded: Bool { degraded.load(ordering: .relaxed) }
  /// The number of writes, and of session changes in them.
  package private(set) var writes = (appends: 0, changes: 0)

  /// Called after a change was stored, before messages that depend on it are sent.
  var willRelease: (() -> Void)?

  /// Calls `report` with a reason when storing fails, and with nil when it works again.
  init(
    _ store: SessionStoreQueue, on loop: any EventLoop, startWalk: @escaping WalkStart,
    report: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    self.store = store
    self.loop = loop
    self.startWalk = startWalk
    self.report = report
  }

  /// The name of the owner in the store's leases.
  var owner: String { store.owner }

  /// The reason why nothing is stored now; nil if the store works.
  package var failure: String? {
    switch health {
    case .working: nil
    case .releasing(let reason), .failed(let reason), .retrying(let reason): reason
    }
  }

  /// Whether changes have to be recorded. During the pause after a failure they do not, because
  /// everything is stored again later.
  var isTracking: Bool {
    if case .working = health { true } else { isWriting || store.isShared }
  }

  /// Whether changes are passed to the store now.
  private var acceptsChanges: Bool {
    switch health {
    case .working, .retrying: true
    case .releasing, .failed: false
    }
  }

  /// Whether a write is running.
  var isWriting: Bool { if case .writing = writeState { true } else { false } }

  /// Whether a write is running, or messages are being released.
  private var isBusy: Bool {
    if case .releasing = health { return true }
    if case .walking = releaseState { return true }
    return isWriting
  }

  func add(_ journal: SessionJournal) { journals[ObjectIdentifier(journal)] = journal }

  /// Removes a journal, which writes nothing any more.
  func remove(_ journal: SessionJournal) {
    let id = ObjectIdentifier(journal)
    journals[id] = nil
    urgent[id] = nil
    deferred[id] = nil
  }

  /// Writes the change of a journal soon, because messages wait for it.
  func enqueue(_ journal: SessionJournal) {
    urgent[ObjectIdentifier(journal)] = journal
    guard case .idle = writeState, acceptsChanges else { return }
    writeState = .scheduled
    // All changes that belong together are made by then.
    loop.execute { [weak self] in
      guard let self, case .scheduled = writeState else { return }
      writeState = .idle
      write()
    }
  }

  /// Writes the change of a journal later, because no message waits for it.
  func enqueueDeferred(_ journal: SessionJournal) {
    deferred[ObjectIdentifier(journal)] = journal
    guard deferredTimer == nil, acceptsChanges else { return }
    deferredTimer = loop.schedule(after: Self.maxDelay) { [weak self] in
      self?.deferredTimer = nil
      self?.expediteDeferred()
      self?.write()
    }
  }

  /// Makes the deferred changes part of the next write.
  private func expediteDeferred() {
    urgent.merge(deferred) { one, _ in one }
    deferred = [:]
  }

  private func write() {
    guard !isWriting, acceptsChanges, !urgent.isEmpty else { return }
    let due = urgent
    urgent = [:]
    write(Array(due.values))
  }

  /// Begins the next write if changes are due. If none are, and no message is being released, nothing
  /// waits any more.
  private func proceed() {
    write()
    if isBusy { return }
    let waiting = idleWaiters
    idleWaiters = []
    for continuation in waiting { continuation.resume() }
  }

  /// Writes the changes of journals. With `isSnapshot`, writes each session as a whole, and calls the
  /// store even without any session.
  private func write(_ due: [SessionJournal], isSnapshot: Bool = false) {
    writeState = .writing
    visit(due, cost: 0) { [self] journal in
      guard isTracked(journal), let (change, number) = journal.makeChange(isSnapshot: isSnapshot)
      else { return }
      pendingChanges.append((journal, change, number))
    } completion: { [self] in
      let pending = pendingChanges
      pendingChanges = []
      if !pending.isEmpty || isSnapshot { return append(pending) }
      writeState = .idle
      proceed()
    }
  }

  /// Whether a journal was not removed.
  private func isTracked(_ journal: SessionJournal) -> Bool {
    journals[ObjectIdentifier(journal)] != nil
  }

  /// Calls `visit` for each item, then `completion`: at once if the items are few, else in several
  /// turns of the loop. Each visit counts as at least `cost` nanoseconds.
  private func visit<Item: Sendable>(
    _ items: [Item], cost: UInt64, _ visit: @escaping @Sendable (Item) -> Void,
    completion: @escaping @Sendable () -> Void
  ) {
    if items.count > Self.maxVisitsAtOnce {
      return startWalk(items.count, cost, { visit(items[$0]) }, completion)
    }
    for item in items { visit(item) }
    completion()
  }

  /// Releases the messages that have waited for stored changes: at once if the changes are few, else
  /// in a walk. A walk that begins later contains the last change of each session only.
  private func release(_ stored: [SubmittedChange]) {
    guard stored.count > Self.maxVisitsAtOnce else { return stored.forEach(markStored) }
    guard case .walking(var next) = releaseState else { return walk(stored) }
    releaseState = .idle
    for change in stored { next[ObjectIdentifier(change.journal)] = change }
    releaseState = .walking(next: next)
  }

  /// Starts a walk that releases messages.
  private func walk(_ stored: [SubmittedChange]) {
    releaseState = .walking(next: [:])
    startWalk(
      stored.count, Self.releaseCost, { [self] in markStored(stored[$0]) },
      { [self] in
        if case .walking(let next) = releaseState, !next.isEmpty {
          walk(Array(next.values))
        } else {
          releaseState = .idle
        }
        proceed()
      })
  }

  private func markStored(_ change: SubmittedChange) {
    if isTracked(change.journal) { change.journal.markStored(change.number) }
  }

  /// Writes to the store, even if there is nothing to write, to find out whether it works.
  private func append(_ pending: [PendingChange]) {
    writeState = .writing
    let changes = pending.map(\.change)
    writes.appends += 1
    writes.changes += changes.count
    let submitted = pending.map { ($0.journal, $0.number) }
    Task { [store, loop] in
      let result: Result<SessionStoreQueue.AppendResult, any Error>
      do { result = .success(try await store.append(changes)) } catch { result = .failure(error) }
      loop.execute { [weak self] in self?.finishAppend(submitted, result) }
    }
  }

  private func finishAppend(
    _ submitted: [SubmittedChange], _ result: Result<SessionStoreQueue.AppendResult, any Error>
  ) {
    writeState = .idle
    switch result {
    case .failure(let error): return handleFailure("\(error)", submitted.map(\.journal))
    case .success(let outcome) where outcome.isEmpty: break
    case .success(let outcome):
      for (journal, _) in submitted where isTracked(journal) {
        if outcome.lostSessions.contains(journal.session) { journal.leaseLost() }
        if outcome.snapshotRequests.contains(journal.session) { journal.requestSnapshot() }
      }
    }
    if failure != nil {
      health = .working
      nextRetryDelay = Self.retryDelay.first
      report(nil)
    }
    willRelease?()
    release(submitted)
    proceed()
  }

  private func handleFailure(_ reason: String, _ tried: [SessionJournal]) {
    if failure == nil { report(reason) }
    if store.isShared {
      health = .failed(reason: reason)
      return backOff(before: tried)
    }
    health = .releasing(reason: reason)
    (urgent, deferred) = ([:], [:])
    deferredTimer?.cancel()
    deferredTimer = nil
    visit(Array(journals.values), cost: Self.releaseCost) {
      $0.stopWaiting()
    } completion: { [self] in
      health = .failed(reason: reason)
      proceed()
      _ = loop.schedule(after: nextRetryDelay) { [weak self] in self?.retryAll() }
      nextRetryDelay = min(nextRetryDelay * 2, Self.retryDelay.last)
    }
  }

  /// Retries failed changes soon, as snapshots of their sessions. The other changes wait.
  private func backOff(before tried: [SessionJournal]) {
    for journal in tried where isTracked(journal) { journal.resubmitSnapshot() }
    proceed()
    _ = loop.schedule(after: Self.sharedRetryDelay) { [weak self] in
      guard let self else { return }
      retryChanges()
      // An empty write shows whether the store works again.
      if urgent.isEmpty, !isWriting { append([]) } else { write() }
    }
  }

  /// Passes all changes to the store again, if other servers share it.
  private func retryChanges() {
    if case .failed(let reason) = health, store.isShared { health = .retrying(reason: reason) }
    expediteDeferred()
  }

  /// Writes all sessions to find out which of them are stored, and which another server has taken
  /// over. Returns when the store has them; throws if it fails.
  nonisolated(nonsending) func verify() async throws(StoreFailure) {
    await withCheckedContinuation { continuation in
      visit(Array(journals.values), cost: 0) { [self] journal in
        if isTracked(journal) { journal.resubmitSnapshot() }
      } completion: {
        continuation.resume()
      }
    }
    await flush()
    if let failure { throw StoreFailure(description: failure) }
  }

  /// Writes all sessions as snapshots, because their stored state is unknown.
  private func retryAll() {
    if !isWriting { write(Array(journals.values), isSnapshot: true) }
  }

  /// Writes all remaining changes, and returns when the store has them or has failed. A shared
  /// store is retried several times, because other servers wait for released sessions.
  nonisolated(nonsending) func flush() async {
    for attempt in 1...(store.isShared ? Self.maxAttempts : 1) {
      retryChanges()
      write()
      await waitUntilIdle()
      if failure == nil || !store.isShared || attempt == Self.maxAttempts { return }
      await withCheckedContinuation { continuation in
        _ = loop.schedule(after: Self.sharedRetryDelay) { continuation.resume() }
      }
    }
  }

  /// Returns when the store has the changes that were passed to it, or has failed, and the messages
  /// that waited for it are released.
  nonisolated(nonsending) func waitUntilIdle() async {
    // Checked here, because the writer may become idle before the continuation is made.
    await withCheckedContinuation { continuation in
      if isBusy { idleWaiters.append(continuation) } else { continuation.resume() }
    }
  }
}

/// The reason why the store does not accept changes.
struct StoreFailure: Error, CustomStringConvertible {
  let description: String
}
