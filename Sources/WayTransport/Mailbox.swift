import Dispatch
import Synchronization

/// A queue for tests. Any thread can add elements, and elements are awaited in order.
package final class Mailbox<Element: Sendable>: Sendable {
  private struct MailboxWaiter {
    let number: Int
    let matches: @Sendable (Element) -> Bool
    let continuation: CheckedContinuation<Element?, Never>
  }

  private struct MailboxState {
    var elements: [Element] = []
    var waiters: [MailboxWaiter] = []
    var lastNumber = 0
  }

  private let state = Mutex(MailboxState())

  package init() {}

  package func put(_ element: Element) {
    let receiver: CheckedContinuation<Element?, Never>? = state.withLock { state in
      if let index = state.waiters.firstIndex(where: { $0.matches(element) }) {
        return state.waiters.remove(at: index).continuation
      }
      state.elements.append(element)
      return nil
    }
    receiver?.resume(returning: element)
  }

  /// Returns the next matching element, and waits for it if necessary. Returns `nil` if none
  /// arrives within `time`, or if the task is cancelled. `time` is real time, independent of the
  /// clock of a test's loops.
  package func next(
    within time: Duration, where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) async -> Element? {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { receiver in
        let found: Element?? = state.withLock { state in
          if let index = state.elements.firstIndex(where: isWanted) {
            return state.elements.remove(at: index)
          }
          // The task may have been cancelled before the waiter was added.
          if Task.isCancelled { return .some(nil) }
          state.waiters.append(
            MailboxWaiter(number: number, matches: isWanted, continuation: receiver))
          return nil
        }
        if let found { return receiver.resume(returning: found) }
        let seconds = time / .seconds(1)
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { self.cancelWait(number) }
      }
    } onCancel: {
      cancelWait(number)
    }
  }

  private func cancelWait(_ number: Int) {
    let receiver: CheckedContinuation<Element?, Never>? = state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiters.remove(at: index).continuation
    }
    receiver?.resume(returning: nil)
  }
}
