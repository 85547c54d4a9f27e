import Dispatch
import WayTransport

/// One unit of work for a loop.
enum LoopItem {
  case job(UnownedJob)
  case work(@Sendable () -> Void)
}

/// Work from other threads for a loop, in order. Once the loop's thread has ended, a serial
/// dispatch queue replaces it, so no work is ever dropped.
final class SocketLoopQueue: Sendable {
  private struct LoopQueueState {
    var items: [LoopItem] = []
    var isSignalled = false
    var isWakeupDisabled = false
    var successor: DispatchQueue?
  }

  private let state = Locked(LoopQueueState())

  /// Adds an item. Calls `wake` once for all items until the loop next drains the queue, and never
  /// after ``disableWakeup()`` has returned.
  func push(
    _ item: LoopItem, wake: () -> Void, orRunBy run: @escaping @Sendable (LoopItem) -> Void
  ) {
    state.withLock { state in
      if let successor = state.successor {
        let transferred = TransferredItem(item: item)
        successor.async { run(transferred.item) }
        return
      }
      state.items.append(item)
      if state.isSignalled || state.isWakeupDisabled { return }
      state.isSignalled = true
      wake()
    }
  }

  /// Disables waking the loop. A call of ``end(local:successor:run:)`` must follow.
  func disableWakeup() {
    state.withLock { state in state.isWakeupDisabled = true }
  }

  /// Moves all items to the end of `local`.
  func drain(into local: inout [LoopItem]) {
    let items = state.withLock { state in
      state.isSignalled = false
      let items = state.items
      state.items.removeAll(keepingCapacity: true)
      return items
    }
    local.append(contentsOf: items)
  }

  /// Passes `local`, then the queued items, then all later items to `successor`.
  func end(
    local: [LoopItem], successor: DispatchQueue, run: @escaping @Sendable (LoopItem) -> Void
  ) {
    state.withLock { state in
      let transferred = local.map(TransferredItem.init) + state.items.map(TransferredItem.init)
      state.items = []
      state.successor = successor
      successor.async { for item in transferred { run(item.item) } }
    }
  }

  /// Transfers the only reference to a job to the queue that runs it.
  private struct TransferredItem: @unchecked Sendable {  // each job runs once
    let item: LoopItem
  }
}
