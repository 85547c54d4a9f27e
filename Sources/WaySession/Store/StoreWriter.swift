import Synchronization
import WayTransport

/// Hands what changes of the sessions of one loop to the store: one change after another, each of
/// all that has come together while the one before was written. Confined to that loop.
///
/// Where the store does not take a change, the bridge goes on without it, tells so, and hands
/// everything over anew as soon as it can. Where other servers share the store, which may take the
/// sessions over, what rests on the change waits until the store has it.
package final class StoreWriter: @unchecked Sendable {
  /// How long a change may wait that nobody waits for.
  private static let patience: Duration = .milliseconds(100)
  /// How long the store is left alone after it has failed; twice as long each further time.
  private static let retry: (first: Duration, last: Duration) = (.seconds(1), .seconds(30))
  /// The same, where messages wait for it.
  private static let sharedRetry: Duration = .milliseconds(250)
  private static let maxAttempts = 20

  private let store: StoreQueue
  private let loop: any EventLoop
  private let tell: @Sendable (String?) -> Void
  private var journals: [ObjectIdentifier: Journal] = [:]
  /// Those that somebody waits for.
  private var awaited: [ObjectIdentifier: Journal] = [:]
  /// Those that nobody waits for.
  private var later: [ObjectIdentifier: Journal] = [:]
  private var isScheduled = false
  /// Whether those have waited long enough.
  private var isTime = false
  private var soon: (any ScheduledWork)?
  private var isWriting = false
  private var retryAfter = retry.first
  private var waitingForIdleness: [CheckedContinuation<Void, Never>] = []
  /// Why nothing is kept now; nil where it is.
  package private(set) var failure: String? {
    didSet { degraded.store(failure != nil, ordering: .relaxed) }
  }
  private let degraded = Atomic(false)
  /// Whether nothing is kept now. Any thread may ask.
  var isDegraded: Bool { degraded.load(ordering: .relaxed) }
  /// How many changes were written, and how many of sessions they held.
  package private(set) var writes = (appends: 0, changes: 0)

  /// Called before what rests on a change goes out, since the store has it.
  var willRelease: (() -> Void)?

  /// `tell` is told why nothing is kept from now on, and nil when it is again.
  init(
    _ store: StoreQueue, on loop: any EventLoop,
    tell: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    self.store = store
    self.loop = loop
    self.tell = tell
  }

  /// Who the store's leases name.
  var owner: String { store.owner }

  private var isHealthy: Bool { failure == nil }

  /// Whether it matters what changes: while the store is left alone, all is handed over anew later.
  var isTracking: Bool { isHealthy || isWriting || store.isShared }

  /// Whether what changes is to be handed over now.
  private var takes: Bool { isHealthy || store.isShared && !isResting }
  /// Whether the store has failed a moment ago.
  private var isResting = false

  func add(_ journal: Journal) { journals[ObjectIdentifier(journal)] = journal }

  /// Nothing is written of it any more.
  func remove(_ journal: Journal) {
    let id = ObjectIdentifier(journal)
    journals[id] = nil
    awaited[id] = nil
    later[id] = nil
  }

  /// Somebody waits for a change.
  func isDue(_ journal: Journal) {
    awaited[ObjectIdentifier(journal)] = journal
    guard !isScheduled, takes else { return }
    isScheduled = true
    // All that belongs together has happened by then.
    loop.execute { [weak self] in
      self?.isScheduled = false
      self?.write()
    }
  }

  /// Nobody waits for a change.
  func isDueSoon(_ journal: Journal) {
    later[ObjectIdentifier(journal)] = journal
    guard soon == nil, takes else { return }
    soon = loop.schedule(after: Self.patience) { [weak self] in
      self?.soon = nil
      self?.isTime = true
      self?.write()
    }
  }

  private func write() {
    guard !isWriting, takes else { return }
    var due = awaited
    awaited = [:]
    if isTime {
      due.merge(later) { one, _ in one }
      later = [:]
      isTime = false
    }
    let taken = due.values.compactMap { journal in
      journal.take().map { (journal, $0.change, $0.number) }
    }
    if taken.isEmpty { idle() } else { append(taken) }
  }

  /// Has the store write, be it nothing: it is seen then whether it can.
  private func append(_ taken: [(journal: Journal, change: SessionChange, number: Int)]) {
    isWriting = true
    let changes = taken.map(\.change)
    writes.appends += 1
    writes.changes += changes.count
    let numbers = taken.map { (ObjectIdentifier($0.journal), $0.number) }
    Task { [store, loop] in
      let result: Result<StoreQueue.Outcome, any Error>
      do { result = .success(try await store.append(changes)) } catch { result = .failure(error) }
      loop.execute { [weak self] in self?.ended(numbers, result) }
    }
  }

  private func ended(
    _ numbers: [(ObjectIdentifier, Int)], _ result: Result<StoreQueue.Outcome, any Error>
  ) {
    isWriting = false
    switch result {
    case .failure(let error): return failed("\(error)", numbers.map(\.0))
    case .success(let outcome) where outcome.isPlain: break
    case .success(let outcome):
      for journal in Array(journals.values) {
        if outcome.lost.contains(journal.session) { journal.leaseLost() }
        if outcome.wanted.contains(journal.session) { journal.wantWhole() }
      }
    }
    if self.failure != nil {
      self.failure = nil
      retryAfter = Self.retry.first
      tell(nil)
    }
    willRelease?()
    for (id, number) in numbers { journals[id]?.keeps(number) }
    write()
  }

  private func failed(_ failure: String, _ tried: [ObjectIdentifier]) {
    if self.failure == nil { tell(failure) }
    self.failure = failure
    if store.isShared { return rest(before: tried) }
    (awaited, later) = ([:], [:])
    soon?.cancel()
    soon = nil
    for journal in Array(journals.values) { journal.giveUpWaiting() }
    idle()
    _ = loop.schedule(after: retryAfter) { [weak self] in self?.tryAgain() }
    retryAfter = min(retryAfter * 2, Self.retry.last)
  }

  /// What was tried is done again as a whole, soon; the rest waits.
  private func rest(before tried: [ObjectIdentifier]) {
    isResting = true
    for id in tried { journals[id]?.repeatWhole() }
    idle()
    _ = loop.schedule(after: Self.sharedRetry) { [weak self] in
      guard let self else { return }
      isResting = false
      isTime = true
      // With nothing left to write, it is seen all the same whether the store can.
      if awaited.isEmpty, later.isEmpty, !isWriting { append([]) } else { write() }
    }
  }

  /// What is kept of every session is found out, and which of them are another server's by now, by
  /// writing all of them. Returns when the store has them; throws where it takes nothing.
  nonisolated(nonsending) func verify() async throws(StoreFailure) {
    for journal in journals.values { journal.repeatWhole() }
    await settle()
    if let failure { throw StoreFailure(description: failure) }
  }

  /// Everything anew: what the store has of it is not known.
  private func tryAgain() {
    guard !isWriting else { return }
    append(
      journals.values.compactMap { journal in
        journal.take(isWhole: true).map { (journal, $0.change, $0.number) }
      })
  }

  private func idle() {
    let waiting = waitingForIdleness
    waitingForIdleness = []
    for continuation in waiting { continuation.resume() }
  }

  /// Writes what is left, and returns when the store has it, or has failed: one that is shared, some
  /// times, since others wait for what is given back.
  nonisolated(nonsending) func settle() async {
    for attempt in 1...(store.isShared ? Self.maxAttempts : 1) {
      isTime = true
      isResting = false
      write()
      await finishWriting()
      if isHealthy || !store.isShared || attempt == Self.maxAttempts { return }
      await withCheckedContinuation { continuation in
        _ = loop.schedule(after: Self.sharedRetry) { continuation.resume() }
      }
    }
  }

  /// Returns when the store has what was handed to it, or has failed.
  nonisolated(nonsending) func finishWriting() async {
    guard isWriting else { return }
    await withCheckedContinuation { waitingForIdleness.append($0) }
  }
}

/// Why the store takes nothing.
struct StoreFailure: Error, CustomStringConvertible {
  let description: String
}
