import DequeModule

/// What of one session the store does not have yet, and what waits until it has it. Belongs to its
/// ``Session``'s isolation.
///
/// Nothing leaves the server that rests on a change which is not on disk: what is sent after
/// ``note(_:)`` waits for the ``barrier``. What ``noteLater(_:)`` tells of may get lost in a crash
/// without anybody having relied on it.
final class Journal: @unchecked Sendable {
  /// A session that can be kept.
  protocol Source: AnyObject, Sendable {
    /// What is to be done so that these of its parts are kept as they are now; all of them, where
    /// `parts` is nil. `isAwaited` where messages wait for that; `number` is that of the change.
    func steps(
      for parts: Set<String>?, isAwaited: Bool, number: Int
    ) -> [SessionChange.Step]
    /// The store has the changes up to a number.
    func kept(through number: Int)
    /// The session is another server's from now on, which was handed it, or has taken it over.
    func moved(_ reason: Journal.Move)
  }

  /// How a session becomes another server's.
  enum Move {
    case handedOver, takenOver
  }

  weak var source: (any Source)?
  let session: String
  private let lease: SessionLease
  private let writer: StoreWriter
  private var parts: Set<String> = []
  /// So many changes were handed to the store.
  private var handedOver = 0
  /// The last one that the store has.
  private(set) var kept = 0
  /// The last one that what is sent has to wait for.
  private var awaited = 0
  private var waiting: Deque<(number: Int, work: @Sendable () -> Void)> = []
  private var isOver = false
  /// The number of the change that ends it, or gives it back; nil before that is handed over.
  private var lastChange: Int?
  /// Whether the next change is the last here, and gives the lease back.
  private var isReleased = false
  /// Whether the store wants all of it with the next change.
  private var isWantedWhole = false
  /// Whether there is a next change, whatever has changed.
  private var mustRepeat = false

  init(of session: String, _ lease: SessionLease, _ writer: StoreWriter) {
    self.session = session
    self.lease = lease
    self.writer = writer
    writer.add(self)
  }

  /// The change that what is sent now has to wait for; nil for none.
  var barrier: Int? { awaited > kept ? awaited : nil }

  /// Whether the store takes what changes.
  var isTracking: Bool { writer.isTracking }

  private var isOpen: Bool { !isOver && isTracking }

  /// For the how-manieth time the session was taken over: what has numbers of its own in each life
  /// of the server begins with it.
  var term: Int64 { lease.term }

  /// A part has changed, and what follows rests on it.
  func note(_ part: String) {
    guard isOpen else { return }
    parts.insert(part)
    awaited = handedOver + 1
    writer.isDue(self)
  }

  /// A part has changed, and nothing rests on it.
  func noteLater(_ part: String) {
    guard isOpen else { return }
    parts.insert(part)
    writer.isDueSoon(self)
  }

  /// What was noted later must not wait any longer.
  func hurry() {
    if isOpen, !parts.isEmpty { writer.isDue(self) }
  }

  /// Runs `work` when the store has all that others must have waited for: at once, where it has.
  func whenKept(_ work: @escaping @Sendable () -> Void) {
    guard let barrier else { return work() }
    waiting.append((barrier, work))
  }

  /// The session is over: nothing is kept of it any more.
  func end() {
    guard !isOver else { return }
    isOver = true
    parts = []
    writer.isDue(self)
  }

  /// Everything is kept as it is now, and the session is nobody's then, which ``Source/moved(_:)``
  /// tells. Nothing may change afterwards.
  func release() {
    guard !isOver else { return }
    isReleased = true
    awaited = handedOver + 1
    writer.isDue(self)
  }

  /// What is kept stays as it is: the session is not taken up.
  func abandon() {
    isOver = true
    writer.remove(self)
  }

  /// The store wants all of it with the next change.
  func wantWhole() { isWantedWhole = true }

  /// What the store has of the session is not known: it is handed all of it.
  func repeatWhole() {
    isWantedWhole = true
    mustRepeat = true
    writer.isDue(self)
  }

  /// Another server has taken the session over: what waits rests on what is not kept, and never
  /// goes out.
  func leaseLost() {
    guard !isOver else { return }
    abandon()
    waiting = []
    source?.moved(.takenOver)
  }

  /// Hands out what has changed; nil for nothing. `isWhole` where the store may hold anything.
  func take(isWhole: Bool = false) -> (change: SessionChange, number: Int)? {
    guard isOver || isReleased || isWhole || mustRepeat || !parts.isEmpty else { return nil }
    let isWhole = isWhole || isWantedWhole
    isWantedWhole = false
    mustRepeat = false
    let changed = parts
    parts = []
    handedOver += 1
    if isOver || isReleased { lastChange = handedOver }
    var change = SessionChange(
      session: session, lease: lease, isEnd: isOver, isRelease: isReleased && !isOver)
    if !isOver {
      change.steps =
        (isWhole ? [.removeAll] : [])
        + (source?.steps(
          for: isWhole ? nil : changed, isAwaited: isWhole || awaited == handedOver,
          number: handedOver) ?? [])
    }
    return (change, handedOver)
  }

  /// The store has a change.
  func keeps(_ number: Int) {
    // One of before may come back while the last has not been handed over.
    if isOver, number == lastChange { writer.remove(self) }
    if isReleased, !isOver, number == lastChange {
      abandon()
      waiting = []
      source?.moved(.handedOver)
      return
    }
    goOn(after: number)
  }

  /// The store takes nothing now: nobody waits for it.
  func giveUpWaiting() { goOn(after: max(handedOver, awaited)) }

  private func goOn(after number: Int) {
    kept = max(kept, number)
    while let first = waiting.first, first.number <= kept {
      waiting.removeFirst()
      first.work()
    }
    source?.kept(through: kept)
  }
}
