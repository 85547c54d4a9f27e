import Synchronization
import WayValues

/// The work that a client's hosts do for idempotency keys, and its results. The work of a key runs
/// once; requests that repeat the key share it, or get its result.
///
/// Stores results for 10 minutes, at most 256 of them and about 1 MiB. Usable from any thread.
final class ClientHostIdempotencyKeys: Sendable {
  /// How long a result is stored, in nanoseconds.
  private static let lifetime: UInt64 = 600_000_000_000
  private static let maxResults = 256
  private static let maxBytes = 1 << 20
  /// The assumed size of an error that is not a ``CallError``.
  private static let errorSize = 256

  private struct RunningWork {
    let number: Int
    let key: ClientHostIdempotencyKey
    let task: Task<Value, any Error>
    /// The numbers of the requests that wait for it.
    var waiters: Set<Int>
  }

  private struct FinishedWork {
    let key: ClientHostIdempotencyKey
    let result: Result<Value, any Error>
    let bytes: Int
    let finishedAt: UInt64
  }

  private struct HostKeyState {
    var running: [RunningWork] = []
    /// In the order in which it has finished.
    var finished: [FinishedWork] = []
    /// The last number of work or of a request.
    var lastNumber = 0
  }

  private enum WorkProgress {
    case running(Task<Value, any Error>, waiter: Int)
    case finished(Result<Value, any Error>)
  }

  private let state = Mutex(HostKeyState())
  private let executor: (any TaskExecutor)?
  private let nanoseconds: @Sendable () -> UInt64

  /// Creates an empty store. Work that is not isolated to an actor prefers `executor`;
  /// `nanoseconds` is the time of a monotonic clock.
  init(on executor: (any TaskExecutor)?, nanoseconds: @escaping @Sendable () -> UInt64) {
    self.executor = executor
    self.nanoseconds = nanoseconds
  }

  /// Runs `work`, or waits for the same result as an earlier request with this key. If all requests
  /// that wait are cancelled, the work is cancelled too.
  func run(
    _ key: ClientHostIdempotencyKey, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    switch begin(key, work) {
    case .finished(let result): return try result.get()
    case .running(let task, let waiter):
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        stopWaiting(waiter)
      }
    }
  }

  /// Lets the running work continue although its requests are about to be cancelled: their session
  /// is lost, and the calls may arrive again in the next one.
  func detachRunningWork() {
    state.withLock { state in
      for index in state.running.indices { state.running[index].waiters = [] }
    }
  }

  private func begin(
    _ key: ClientHostIdempotencyKey, _ work: @escaping @Sendable () async throws -> Value
  ) -> WorkProgress {
    let now = nanoseconds()
    return state.withLock { state -> WorkProgress in
      state.finished.removeAll { now &- $0.finishedAt >= Self.lifetime }
      if let finished = state.finished.first(where: { $0.key.isSameCall(as: key) }) {
        return .finished(finished.result)
      }
      state.lastNumber += 2
      let (number, waiter) = (state.lastNumber - 1, state.lastNumber)
      if let index = state.running.firstIndex(where: { $0.key.isSameCall(as: key) }) {
        state.running[index].waiters.insert(waiter)
        return .running(state.running[index].task, waiter: waiter)
      }
      let task: Task<Value, any Error> = Task(executorPreference: executor) { [self] in
        do {
          let value = try await work()
          finish(number, .success(value))
          return value
        } catch {
          finish(number, .failure(error))
          throw error
        }
      }
      state.running.append(RunningWork(number: number, key: key, task: task, waiters: [waiter]))
      return .running(task, waiter: waiter)
    }
  }

  private func stopWaiting(_ waiter: Int) {
    let unwanted = state.withLock { state -> Task<Value, any Error>? in
      guard let index = state.running.firstIndex(where: { $0.waiters.contains(waiter) }) else {
        return nil
      }
      state.running[index].waiters.remove(waiter)
      return state.running[index].waiters.isEmpty ? state.running[index].task : nil
    }
    unwanted?.cancel()
  }

  private func finish(_ number: Int, _ result: Result<Value, any Error>) {
    let now = nanoseconds()
    state.withLock { state in
      guard let index = state.running.firstIndex(where: { $0.number == number }) else { return }
      let key = state.running.remove(at: index).key
      // A host that declines has had no effect, and another host may run the same call.
      if case .failure(let error) = result, error is Declined { return }
      state.finished.append(Self.finishedWork(key, result, at: now))
      var stored = state.finished.reduce(0) { $0 + $1.bytes }
      while state.finished.count > Self.maxResults || stored > Self.maxBytes {
        stored -= state.finished.removeFirst().bytes
      }
    }
  }

  /// Returns what is stored for a key. An error replaces a result that is too large, so that the
  /// work does not run again.
  private static func finishedWork(
    _ key: ClientHostIdempotencyKey, _ result: Result<Value, any Error>, at now: UInt64
  ) -> FinishedWork {
    let bytes = key.size + size(of: result)
    guard bytes > maxBytes else {
      return FinishedWork(key: key, result: result, bytes: bytes, finishedAt: now)
    }
    let error = CallError(.tooLarge, "The call has run; its result was too large to be stored")
    return FinishedWork(
      key: key.withoutContent, result: .failure(error), bytes: key.withoutContent.size + errorSize,
      finishedAt: now)
  }

  /// The approximate size of a result, in bytes.
  private static func size(of result: Result<Value, any Error>) -> Int {
    switch result {
    case .success(let value): value.size
    case .failure(let error as CallError):
      errorSize + error.message.utf8.count + (error.data?.size ?? 0)
    case .failure: errorSize
    }
  }
}
