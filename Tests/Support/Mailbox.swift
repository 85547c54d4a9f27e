import Dispatch
import Synchronization

/// Hands elements from any thread to whoever awaits them, in order.
package final class Mailbox<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: [(number: Int, receiver: CheckedContinuation<Element?, Never>)] = []
    var lastNumber = 0
  }

  private let state = Mutex(State())

  package init() {}

  package func put(_ element: Element) {
    let receiver: CheckedContinuation<Element?, Never>? = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst().receiver }
      state.elements.append(element)
      return nil
    }
    receiver?.resume(returning: element)
  }

  /// The next element, awaited if need be; throws when none has come after so many seconds.
  package func take(within seconds: Double = 20) async throws -> Element {
    let element: Element? = await withCheckedContinuation { receiver in
      let (element, number) = state.withLock { state -> (Element?, Int) in
        guard state.elements.isEmpty else { return (state.elements.removeFirst(), 0) }
        state.lastNumber += 1
        state.waiting.append((state.lastNumber, receiver))
        return (nil, state.lastNumber)
      }
      if let element { return receiver.resume(returning: element) }
      DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { self.giveUp(number) }
    }
    guard let element else { throw NothingCame(seconds: seconds) }
    return element
  }

  private func giveUp(_ number: Int) {
    let receiver: CheckedContinuation<Element?, Never>? = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiting.remove(at: index).receiver
    }
    receiver?.resume(returning: nil)
  }
}

/// What was awaited did not come.
package struct NothingCame: Error, CustomStringConvertible {
  let seconds: Double
  package var description: String { "nothing came within \(seconds) s" }
}
