/// The calls of one push in the sessions of a loop that have no outcome yet. Confined to the loop.
final class PendingPushes: @unchecked Sendable {
  /// The number of one call in this list.
  typealias PushNumber = Int

  private var lastNumber: PushNumber = 0
  private var calls: [PushNumber: (session: Session, call: CallNumber)] = [:]
  private var waiter: CheckedContinuation<Void, Never>?

  /// Returns a number for the next call.
  func makeNumber() -> PushNumber {
    lastNumber += 1
    return lastNumber
  }

  /// Adds a call without an outcome.
  func add(_ number: PushNumber, _ call: CallNumber, in session: Session) {
    calls[number] = (session, call)
  }

  /// Removes a call that has its outcome; nothing happens if it was not added.
  func remove(_ number: PushNumber) {
    guard calls.removeValue(forKey: number) != nil, calls.isEmpty else { return }
    waiter?.resume()
    waiter = nil
  }

  /// All calls without an outcome.
  var all: [(session: Session, call: CallNumber)] { Array(calls.values) }

  /// Returns when no call is left. Call it once, when all are added.
  nonisolated(nonsending) func waitUntilEmpty() async {
    guard !calls.isEmpty else { return }
    await withCheckedContinuation { waiter = $0 }
  }
}
