import CLibuv
import CLibwebsockets
import Dispatch
import Glibc
import WayTransport

/// One thread with one libuv loop and one libwebsockets context on it. Servers, connections and the
/// actors of their sessions run on it, as on an executor.
///
/// Jobs run in order and none is ever dropped: after ``shutdown()`` a serial dispatch queue takes
/// the thread's place, and counts as the loop wherever isolation is checked. A loop lives until it
/// is shut down.
// Unchecked: all but `queue` and `ending` is confined to the thread.
package final class SocketLoop: EventLoop, @unchecked Sendable {
  private struct Ending {
    var isOver = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  let uv = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
  /// The libwebsockets context; nil once the loop ends.
  var context: OpaquePointer?
  /// Connections with something to send at the end of this turn. Asked with every message that is
  /// sent, on the loop alone, and by nobody in the midst of changing it.
  @exclusivity(unchecked) private var unflushed: [SocketConnection] = []
  let buffers = BufferPool()
  let traffic = SocketTraffic()
  /// What must let go of its handles before the loop ends, by the identity of its owner.
  var endings: [ObjectIdentifier: () -> Void] = [:]
  /// What lws has vhosts for.
  var hosts: [VirtualHost] = []
  /// Owner of the outgoing connections, made with the first of them.
  var clients: ClientSockets?

  /// The descriptor by which lws wakes its context.
  private var contextWakeup: Int32 = -1
  private let queue = SocketLoopQueue()
  private let ending = Locked(Ending())
  private let successor = DispatchQueue(label: "waybridge.ended-loop")
  private var local: [LoopItem] = []
  /// What runs after sockets were looked at once more.
  private var later: [LoopItem] = []
  private var isStopping = false
  private var isOver = false
  private var timers: [UInt64: (LibuvHandle<uv_timer_t>, LibuvTimer)] = [:]
  private let nextTimer = Locked(UInt64(0))

  private let wakeup = LibuvHandle<uv_async_t>()
  private let before = LibuvHandle<uv_prepare_t>()
  private let after = LibuvHandle<uv_check_t>()
  private let again = LibuvHandle<uv_idle_t>()

  private init() {}

  /// Makes a loop and starts its thread; returns when it runs.
  package static func start() throws(SocketError) -> SocketLoop {
    let loop = SocketLoop()
    try SocketLoopThread.start(
      setUp: { () throws(SocketError) in try loop.setUp() }, body: { loop.run() })
    return loop
  }

  /// How many cores the process may run on (uv_available_parallelism), at least one.
  package static var coreCount: Int { Int(max(uv_available_parallelism(), 1)) }

  /// Ends the loop: whatever is still open on it is closed, pending timers are dropped, and the
  /// thread ends. Returns when that is done; further calls wait for the same end. May be called
  /// from anywhere.
  package func shutdown() async {
    await withCheckedContinuation { continuation in
      let isOver = ending.withLock { ending in
        if !ending.isOver { ending.waiters.append(continuation) }
        return ending.isOver
      }
      if isOver { return continuation.resume() }
      execute { [self] in
        guard !self.isOver else { return }
        isStopping = true
        uv_stop(uv)
      }
    }
  }

  // MARK: Executor

  package func enqueue(_ job: consuming ExecutorJob) {
    push(.job(UnownedJob(job)))
  }

  package func isIsolatingCurrentContext() -> Bool? {
    isCurrent
  }

  package func checkIsolated() {
    precondition(isCurrent, "not on the loop that the value belongs to")
  }

  /// Whether the caller runs on this loop.
  var isCurrent: Bool {
    LibuvLoopIdentity.current == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    push(.work(work))
  }

  /// Runs `work` on the loop: at once where the caller is there, else after what the loop was given
  /// before.
  func reach(_ work: @escaping @Sendable () -> Void) {
    if isCurrent { work() } else { execute(work) }
  }

  package func executeLater(_ work: @escaping @Sendable () -> Void) {
    if isCurrent, !isOver {
      later.append(.work(work))
    } else {
      execute { [self] in executeLater(work) }
    }
  }

  private func push(_ item: LoopItem) {
    if isCurrent, !isOver {
      local.append(item)
      return
    }
    queue.push(
      item, wake: { uv_async_send(wakeup.pointer) },
      orRunBy: { [self] item in runAsSuccessor(item) })
  }

  private func run(_ item: LoopItem) {
    switch item {
    case .job(let job):
      job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    case .work(let work):
      work()
    }
  }

  private func runAsSuccessor(_ item: LoopItem) {
    LibuvLoopIdentity.set(Unmanaged.passUnretained(self).toOpaque())
    run(item)
    LibuvLoopIdentity.set(nil)
  }

  // MARK: Timers

  package func schedule(
    after delay: Duration, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    let id = nextTimer.withLock { id in
      id += 1
      return id
    }
    let timer = LibuvTimer(loop: self, id: id, work: work)
    reach { [self] in startTimer(timer, after: delay) }
    return timer
  }

  private func startTimer(_ timer: LibuvTimer, after delay: Duration) {
    guard !isStopping else {
      _ = timer.take()
      return
    }
    let handle = LibuvHandle<uv_timer_t>()
    uv_timer_init(uv, handle.pointer)
    handle.bind(to: Unmanaged.passUnretained(timer).toOpaque())
    timers[timer.id] = (handle, timer)
    // libuv counts from the start of the turn; what is due now fires in the next turn.
    uv_update_time(uv)
    let fired: uv_timer_cb = { pointer in
      guard let timer = owner(of: pointer, as: LibuvTimer.self) else { return }
      let work = timer.take()
      timer.loop.removeTimer(timer.id)
      work?()
    }
    uv_timer_start(handle.pointer, fired, delay.wholeMilliseconds, 0)
  }

  func removeTimer(_ id: UInt64) {
    timers.removeValue(forKey: id)?.0.close()
  }

  // MARK: Thread

  private func setUp() throws(SocketError) {
    uv_loop_init(uv)
    let me = Unmanaged.passUnretained(self).toOpaque()
    uv_async_init(uv, wakeup.pointer) { pointer in
      guard let loop = owner(of: pointer, as: SocketLoop.self) else { return }
      loop.queue.take(into: &loop.local)
    }
    uv_prepare_init(uv, before.pointer)
    uv_check_init(uv, after.pointer)
    uv_idle_init(uv, again.pointer)
    wakeup.bind(to: me)
    before.bind(to: me)
    after.bind(to: me)
    again.bind(to: me)
    uv_prepare_start(before.pointer) { pointer in
      guard let loop = owner(of: pointer, as: SocketLoop.self) else { return }
      loop.turn()
      loop.sleepUnlessBusy()
    }
    uv_check_start(after.pointer) { pointer in
      guard let loop = owner(of: pointer, as: SocketLoop.self) else { return }
      loop.local += loop.later
      loop.later = []
      loop.turn()
    }
    LibuvLoopIdentity.set(me)
    do {
      context = try Libwebsockets.createContext(loop: uv)
      contextWakeup = polledDescriptor(on: uv)
    } catch {
      closeHandles()
      uv_run(uv, UV_RUN_DEFAULT)
      uv_loop_close(uv)
      throw error
    }
  }

  /// Runs what was enqueued and writes what that, and the messages before it, had to say.
  private func turn() {
    // Bounded, so that jobs which beget jobs leave the sockets their turn.
    for _ in 0..<16 where !local.isEmpty {
      var items: [LoopItem] = []
      swap(&items, &local)
      for item in items { run(item) }
    }
    flush()
  }

  /// Has a connection written at the end of this turn. Of very many the others are written now: what
  /// they have to say is held in blocks, which serve the next.
  func flushLater(_ connection: SocketConnection) {
    if unflushed.count >= BufferPool.keep { flush() }
    unflushed.append(connection)
  }

  private func flush() {
    guard !unflushed.isEmpty else { return }
    var connections: [SocketConnection] = []
    swap(&connections, &unflushed)
    for connection in connections { connection.flushAtTurnEnd() }
    if unflushed.isEmpty {
      connections.removeAll(keepingCapacity: true)
      swap(&connections, &unflushed)
    }
  }

  /// libuv waits for events after this; it must not while jobs are left over.
  private func sleepUnlessBusy() {
    if local.isEmpty, later.isEmpty {
      uv_idle_stop(again.pointer)
    } else {
      uv_idle_start(again.pointer) { _ in }
    }
  }

  private func run() {
    if !isStopping { uv_run(uv, UV_RUN_DEFAULT) }
    isStopping = true
    for (_, end) in endings { end() }
    endings = [:]
    for (handle, timer) in timers.values {
      _ = timer.take()
      handle.close()
    }
    timers = [:]
    let isContextGone = endContext()
    queue.mute()
    if isContextGone {
      closeHandles()
      uv_run(uv, UV_RUN_DEFAULT)
      if uv_loop_close(uv) == 0 { uv.deallocate() }
    }
    end()
  }

  /// lws_context_destroy closes its sockets through libuv, so the loop must turn between its two
  /// phases. Returns false where lws has left handles on the loop, which then can be freed no more
  /// than the context can.
  private func endContext() -> Bool {
    guard let context else { return true }
    self.context = nil
    let wakeup = contextWakeup
    lws_context_destroy(context)
    let isSafe = Libwebsockets.reserve(wakeup)
    if isSafe {
      for _ in 0..<1000 where !isContextAtRest() { uv_run(uv, UV_RUN_NOWAIT) }
    }
    let isAtRest = isSafe && isContextAtRest()
    if isAtRest { lws_context_destroy(context) }
    for host in hosts { host.release() }
    clients = nil
    return isAtRest
  }

  private func closeHandles() {
    wakeup.close()
    before.close()
    after.close()
    again.close()
  }

  private func end() {
    isOver = true
    LibuvLoopIdentity.set(nil)
    queue.end(
      local: local + later, successor: successor, run: { [self] item in runAsSuccessor(item) })
    local = []
    later = []
    let waiters = ending.withLock { ending in
      ending.isOver = true
      let waiters = ending.waiters
      ending.waiters = []
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Whether only the loop's own handles are left.
  private func isContextAtRest() -> Bool {
    let own = [wakeup.base, before.base, after.base, again.base]
    return handles(on: uv).allSatisfy(own.contains)
  }
}
