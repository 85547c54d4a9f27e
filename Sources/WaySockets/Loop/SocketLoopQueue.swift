import Dispatch
import WayTransport

/// One thing for a loop to run.
enum LoopItem {
  case job(UnownedJob)
  case work(@Sendable () -> Void)
}

/// What other threads hand to a loop, in order. Once the loop's thread has ended, a serial
/// dispatch queue takes its place, so that nothing handed over is ever dropped.
final class SocketLoopQueue: Sendable {
  private struct State {
    var items: [LoopItem] = []
    var isSignalled = false
    var isMuted = false
    var successor: DispatchQueue?
  }

  private let state = Locked(State())

  /// Calls `wake` once for all that comes before the loop next takes; never after ``mute()`` has
  /// returned.
  func push(
    _ item: LoopItem, wake: () -> Void, orRunBy run: @escaping @Sendable (LoopItem) -> Void
  ) {
    state.withLock { state in
      if let successor = state.successor {
        let handed = Handed(item: item)
        successor.async { run(handed.item) }
        return
      }
      state.items.append(item)
      if state.isSignalled || state.isMuted { return }
      state.isSignalled = true
      wake()
    }
  }

  /// From here on the loop cannot be woken; ``end(local:successor:run:)`` follows.
  func mute() {
    state.withLock { state in state.isMuted = true }
  }

  /// Moves what has come to the end of `local`.
  func take(into local: inout [LoopItem]) {
    let items = state.withLock { state in
      state.isSignalled = false
      let items = state.items
      state.items.removeAll(keepingCapacity: true)
      return items
    }
    local.append(contentsOf: items)
  }

  /// Hands `local`, then what has come meanwhile, then all that will come, to `successor`.
  func end(
    local: [LoopItem], successor: DispatchQueue, run: @escaping @Sendable (LoopItem) -> Void
  ) {
    state.withLock { state in
      let handed = local.map(Handed.init) + state.items.map(Handed.init)
      state.items = []
      state.successor = successor
      successor.async { for item in handed { run(item.item) } }
    }
  }

  /// Passes the one reference to a job on to the queue that runs it.
  private struct Handed: @unchecked Sendable {  // the job is run once, by the one who takes it
    let item: LoopItem
  }
}
