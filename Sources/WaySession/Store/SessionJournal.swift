import DequeModule

/// The changes of one session that are not yet stored, and the work that waits for them. Belongs to
/// the isolation of its ``Session``.
///
/// The server persists a state change before it sends any message that depends on it (write-ahead).
/// Messages sent after ``recordChange(_:)`` wait for the ``barrier``. Changes recorded with
/// ``recordDeferredChange(_:)`` may get lost in a crash; no message depends on them.
final class SessionJournal: @unchecked Sendable {
  /// A durable session.
  protocol JournalSource: AnyObject, Sendable {
    /// Returns the steps that store these parts as they are now; all parts if `parts` is nil.
    /// `isAwaited` is true if messages wait for the change, and `number` is the number of the
    /// change.
    func steps(
      for parts: Set<SessionPart>?, isAwaited: Bool, number: Int
    ) -> [SessionChange.ChangeStep]
    /// The store has the changes up to a number.
    func didStore(through number: Int)
    /// Another server owns the session from now on; it was handed over or taken over.
    func didLoseOwnership(_ reason: SessionJournal.OwnershipChange)
  }

  /// The reason why another server owns a session.
  enum OwnershipChange {
    case handedOver, takenOver
  }

  weak var source: (any JournalSource)?
  let session: String
  private let lease: SessionLease
  private let writer: SessionStoreWriter
  private var changedParts: Set<SessionPart> = []
  /// The number of changes that were handed to the store.
  private var lastSubmitted = 0
  /// The number of the last stored change.
  private(set) var lastStored = 0
  /// The number of the last change that messages have to wait for.
  private var lastAwaited = 0
  private var waiters: Deque<(number: Int, work: @Sendable () -> Void)> = []
  private var hasEnded = false
  /// The number of the change that ends or releases the session; nil before that change is handed
  /// to the store.
  private var finalChange: Int?
  /// Whether the next change is the last one here, and releases the lease.
  private var isReleased = false
  /// Whether the next change must contain the whole session.
  private var needsSnapshot = false
  /// Whether a change is due even if no part has changed.
  private var mustResubmit = false

  init(of session: String, _ lease: SessionLease, _ writer: SessionStoreWriter) {
    self.session = session
    self.lease = lease
    self.writer = writer
    writer.add(self)
  }

  /// The number of the change that messages sent now have to wait for; nil if there is none.
  var barrier: Int? { lastAwaited > lastStored ? lastAwaited : nil }

  /// Whether the store tracks changes.
  var isTracking: Bool { writer.isTracking }

  private var isOpen: Bool { !hasEnded && isTracking }

  /// The number of times that the session was taken over, counting its creation. It prefixes
  /// numbers that each run of the server restarts.
  var term: Int64 { lease.term }

  /// Records a change of a part on which later messages depend.
  func recordChange(_ part: SessionPart) {
    guard isOpen else { return }
    changedParts.insert(part)
    lastAwaited = lastSubmitted + 1
    writer.enqueue(self)
  }

  /// Records a change of a part on which no message depends.
  func recordDeferredChange(_ part: SessionPart) {
    guard isOpen else { return }
    changedParts.insert(part)
    writer.enqueueDeferred(self)
  }

  /// Hands deferred changes to the store now.
  func flushDeferredChanges() {
    if isOpen, !changedParts.isEmpty { writer.enqueue(self) }
  }

  /// Runs `work` when the store has all changes that messages have to wait for; at once if it has
  /// them already.
  func whenStored(_ work: @escaping @Sendable () -> Void) {
    guard let barrier else { return work() }
    waiters.append((barrier, work))
  }

  /// Ends the session and removes everything that is stored of it.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    changedParts = []
    writer.enqueue(self)
  }

  /// Stores everything as it is now, and releases the lease; ``JournalSource/didLoseOwnership(_:)``
  /// reports it. Nothing may change afterwards.
  func release() {
    guard !hasEnded else { return }
    isReleased = true
    lastAwaited = lastSubmitted + 1
    writer.enqueue(self)
  }

  /// Stops tracking a session that is not restored. Its stored state stays as it is.
  func abandon() {
    hasEnded = true
    writer.remove(self)
  }

  /// Makes the next change contain the whole session.
  func requestSnapshot() { needsSnapshot = true }

  /// Stores the whole session again, because its stored state is unknown.
  func resubmitSnapshot() {
    needsSnapshot = true
    mustResubmit = true
    writer.enqueue(self)
  }

  /// Another server has taken the session over. Messages that wait depend on changes that are not
  /// stored, and are never sent.
  func leaseLost() {
    waiters = []
    guard !hasEnded else { return }
    abandon()
    source?.didLoseOwnership(.takenOver)
  }

  /// Returns the changes so far; nil if there are none. With `isSnapshot`, the change contains the
  /// whole session, because its stored state is unknown.
  func makeChange(isSnapshot: Bool = false) -> (change: SessionChange, number: Int)? {
    guard hasEnded || isReleased || isSnapshot || mustResubmit || !changedParts.isEmpty else {
      return nil
    }
    let makesSnapshot = isSnapshot || needsSnapshot
    needsSnapshot = false
    mustResubmit = false
    let changed = changedParts
    changedParts = []
    lastSubmitted += 1
    if hasEnded || isReleased { finalChange = lastSubmitted }
    var change = SessionChange(
      session: session, lease: lease, isEnd: hasEnded, isRelease: isReleased && !hasEnded)
    if !hasEnded {
      change.steps =
        (makesSnapshot ? [.removeAll] : [])
        + (source?.steps(
          for: makesSnapshot ? nil : changed,
          isAwaited: makesSnapshot || lastAwaited == lastSubmitted,
          number: lastSubmitted) ?? [])
    }
    return (change, lastSubmitted)
  }

  /// The store has a change.
  func markStored(_ number: Int) {
    // An earlier change may complete while the last one has not been handed over.
    if hasEnded, number == finalChange { writer.remove(self) }
    if isReleased, !hasEnded, number == finalChange {
      abandon()
      waiters = []
      source?.didLoseOwnership(.handedOver)
      return
    }
    resumeWaiters(after: number)
  }

  /// Stops waiting while the store is unavailable.
  func stopWaiting() { resumeWaiters(after: max(lastSubmitted, lastAwaited)) }

  private func resumeWaiters(after number: Int) {
    lastStored = max(lastStored, number)
    while let first = waiters.first, first.number <= lastStored {
      waiters.removeFirst()
      first.work()
    }
    source?.didStore(through: lastStored)
  }
}
