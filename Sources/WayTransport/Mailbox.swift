import Dispatch
import Synchronization

/// Hands elements from any thread to whoever awaits them, in order; for tests.
package final class Mailbox<Element: Sendable>: Sendable {
  private struct Waiting {
    let number: Int
    let isWanted: @Sendable (Element) -> Bool
    let receiver: CheckedContinuation<Element?, Never>
  }

  private struct Held {
    var elements: [Element] = []
    var waiting: [Waiting] = []
    var lastNumber = 0
  }

  private let held = Mutex(Held())

  package init() {}

  package func put(_ element: Element) {
    let receiver: CheckedContinuation<Element?, Never>? = held.withLock { held in
      if let index = held.waiting.firstIndex(where: { $0.isWanted(element) }) {
        return held.waiting.remove(at: index).receiver
      }
      held.elements.append(element)
      return nil
    }
    receiver?.resume(returning: element)
  }

  /// The next element that is wanted, awaited if need be. Nil when none has come within a time, a
  /// real one whatever the loops of a test have for a clock, or when the task is cancelled that
  /// awaits it.
  package func next(
    within time: Duration, where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) async -> Element? {
    let number = held.withLock { held in
      held.lastNumber += 1
      return held.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { receiver in
        let found: Element?? = held.withLock { held in
          if let index = held.elements.firstIndex(where: isWanted) {
            return held.elements.remove(at: index)
          }
          // The cancellation may have come before there was anything to give up.
          if Task.isCancelled { return .some(nil) }
          held.waiting.append(Waiting(number: number, isWanted: isWanted, receiver: receiver))
          return nil
        }
        if let found { return receiver.resume(returning: found) }
        let seconds = time / .seconds(1)
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { self.giveUp(number) }
      }
    } onCancel: {
      giveUp(number)
    }
  }

  private func giveUp(_ number: Int) {
    let receiver: CheckedContinuation<Element?, Never>? = held.withLock { held in
      guard let index = held.waiting.firstIndex(where: { $0.number == number }) else { return nil }
      return held.waiting.remove(at: index).receiver
    }
    receiver?.resume(returning: nil)
  }
}
