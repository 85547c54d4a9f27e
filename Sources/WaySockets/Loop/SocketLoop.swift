import CLibuv
import CLibwebsockets
import Dispatch
import Glibc
import WayTransport

/// A thread with a libuv loop and a libwebsockets context. Servers, connections and the actors of
/// their sessions use it as their executor.
///
/// Jobs run in order, and none is ever dropped. After ``shutdown()`` a serial dispatch queue
/// replaces the thread, and isolation checks treat it as the loop. A loop lives until it is shut
/// down.
// Unchecked: everything except `queue` and `shutdownState` is confined to the thread.
package final class SocketLoop: EventLoop, @unchecked Sendable {
  private struct LoopShutdown {
    var isComplete = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  let uv = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
  /// The libwebsockets context; `nil` once the loop ends.
  var context: OpaquePointer?
  /// Connections with data to send at the end of this turn. Accessed with every sent message, only
  /// on the loop, and never during a change.
  @exclusivity(unchecked) private var unflushed: [SocketConnection] = []
  /// Streamed responses with data to send at the end of this turn.
  private var unflushedStreams: [StreamedResponse] = []
  let buffers = BufferPool()
  /// The bytes that a connection has just read, until they are handled.
  let receiveBuffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: Libwebsockets.receiveSize, alignment: 16)
  let traffic = SocketTraffic()
  /// Closures that release handles before the loop ends, by the identity of the owner.
  var shutdownHandlers: [ObjectIdentifier: () -> Void] = [:]
  /// The vhosts of lws on this loop.
  var virtualHosts: [VirtualHost] = []
  /// The owner of the outgoing connections, created with the first of them.
  var clientSockets: ClientSockets?

  private static let maxEndsBeforeFlush = 32

  /// The descriptor by which lws wakes its context.
  private var contextWakeup: Int32 = -1
  private let queue = SocketLoopQueue()
  private let shutdownState = Locked(LoopShutdown())
  private let successor = DispatchQueue(label: "waybridge.ended-loop")
  private var local: [LoopItem] = []
  /// Work that runs after the loop has polled its sockets once more.
  private var deferred: [LoopItem] = []
  /// Work of which there may be very much at once.
  private var bulkWork = TurnQueue()
  /// Number of connections whose end was read since data was written.
  private var endCount = 0
  /// Timers that are due and did not have time in the turn in which they fired.
  private var dueTimers = TurnQueue()
  private var isStopping = false
  private var hasEnded = false
  private var timers: [UInt64: (LibuvHandle<uv_timer_t>, LibuvTimer)] = [:]
  private let lastTimerID = Locked(UInt64(0))

  private let wakeupHandle = LibuvHandle<uv_async_t>()
  private let prepareHandle = LibuvHandle<uv_prepare_t>()
  private let checkHandle = LibuvHandle<uv_check_t>()
  private let idleHandle = LibuvHandle<uv_idle_t>()

  private init() {}

  /// Creates a loop and starts its thread. Returns when the loop runs.
  package static func start() throws(SocketError) -> SocketLoop {
    let loop = SocketLoop()
    try SocketLoopThread.start(
      setUp: { () throws(SocketError) in try loop.setUp() }, body: { loop.run() })
    return loop
  }

  /// The number of cores that the process may use (uv_available_parallelism), at least one.
  package static var coreCount: Int { Int(max(uv_available_parallelism(), 1)) }

  /// Ends the loop: closes everything that is still open on it, drops pending timers and ends the
  /// thread. Returns when that is done; further calls wait for the same end. Call it from any
  /// thread.
  package func shutdown() async {
    await withCheckedContinuation { continuation in
      let isComplete = shutdownState.withLock { state in
        if !state.isComplete { state.waiters.append(continuation) }
        return state.isComplete
      }
      if isComplete { return continuation.resume() }
      execute { [self] in
        guard !self.hasEnded else { return }
        isStopping = true
        uv_stop(uv)
      }
    }
  }

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

  /// Runs `work` on the loop: immediately if the caller runs on it, else after earlier work.
  func perform(_ work: @escaping @Sendable () -> Void) {
    if isCurrent { work() } else { execute(work) }
  }

  package func executeLater(_ work: @escaping @Sendable () -> Void) {
    guard isCurrent else { return execute { [self] in executeLater(work) } }
    if hasEnded { execute(work) } else { deferred.append(.work(work)) }
  }

  /// Nanoseconds in which lws closes a socket at the end of the turn. Debian's build searches all its
  /// sockets (sanity_assert_no_sockfd_traces).
  var closeCost: UInt64 {
    5_000 + 12 * UInt64(clamping: virtualHosts.reduce(0) { $0 + $1.socketCount })
  }

  /// Counts a connection whose end was read. If thousands end in one turn, responses to other clients
  /// are written in between.
  func countEnd() {
    endCount += 1
    if endCount == Self.maxEndsBeforeFlush { flush() }
  }

  /// Runs `work` on the loop in this turn or a later one, after earlier work of this kind. Use it
  /// for work of which there may be very much at once. `cost` is the time, in nanoseconds, that it
  /// takes later in the turn. Call it on the loop.
  func executeInShare(cost: UInt64 = 0, _ work: @escaping @Sendable () -> Void) {
    if hasEnded { execute(work) } else { bulkWork.append(cost: cost, work) }
  }

  /// Whether bulk work that takes about `cost` nanoseconds may run at once, because nothing waits
  /// before it and its share of the turn is not used up. Charges it then.
  func claimShare(cost: UInt64) -> Bool {
    guard bulkWork.hasTime else { return false }
    bulkWork.charge(cost)
    return true
  }

  /// Runs bulk work at once, after ``claimShare(cost:)``, and charges its time.
  func runInShare(_ work: () -> Void) { bulkWork.charge(duration(of: work)) }

  /// Runs due timers and bulk work until their shares of the turn are used up.
  private func runShares() {
    dueTimers.beginTurn()
    while let timer = dueTimers.next() { dueTimers.charge(duration(of: timer.run)) }
    bulkWork.beginTurn()
    while let work = bulkWork.next() {
      bulkWork.charge(duration(of: work.run) + work.cost)
    }
  }

  /// Runs work, and returns how long it took, in nanoseconds.
  private func duration(of work: () -> Void) -> UInt64 {
    let start = nanoseconds
    work()
    return nanoseconds &- start
  }

  private func push(_ item: LoopItem) {
    if isCurrent, !hasEnded {
      local.append(item)
      return
    }
    queue.push(
      item, wake: { uv_async_send(wakeupHandle.pointer) },
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

  package func schedule(
    after delay: Duration, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    let id = lastTimerID.withLock { id in
      id += 1
      return id
    }
    let timer = LibuvTimer(loop: self, id: id, work: work)
    perform { [self] in startTimer(timer, after: delay) }
    return timer
  }

  private func startTimer(_ timer: LibuvTimer, after delay: Duration) {
    guard !isStopping else {
      _ = timer.claim()
      return
    }
    let handle = LibuvHandle<uv_timer_t>()
    uv_timer_init(uv, handle.pointer)
    handle.bind(to: Unmanaged.passUnretained(timer).toOpaque())
    timers[timer.id] = (handle, timer)
    // libuv counts from the start of the turn. Work that is already due runs in the next turn.
    uv_update_time(uv)
    let fired: uv_timer_cb = { pointer in
      guard let timer = owner(of: pointer, as: LibuvTimer.self) else { return }
      timer.loop.fire(timer)
    }
    uv_timer_start(handle.pointer, fired, delay.wholeMilliseconds, 0)
  }

  /// Runs the work of a timer. If very many timers fire in one turn, later turns run the rest.
  private func fire(_ timer: LibuvTimer) {
    removeTimer(timer.id)
    if dueTimers.hasTime {
      dueTimers.charge(duration(of: { timer.claim()?() }))
    } else {
      dueTimers.append { timer.claim()?() }
    }
  }

  func removeTimer(_ id: UInt64) {
    timers.removeValue(forKey: id)?.0.close()
  }

  private func setUp() throws(SocketError) {
    uv_loop_init(uv)
    let me = Unmanaged.passUnretained(self).toOpaque()
    uv_async_init(uv, wakeupHandle.pointer) { pointer in
      guard let loop = owner(of: pointer, as: SocketLoop.self) else { return }
      loop.queue.drain(into: &loop.local)
    }
    uv_prepare_init(uv, prepareHandle.pointer)
    uv_check_init(uv, checkHandle.pointer)
    uv_idle_init(uv, idleHandle.pointer)
    wakeupHandle.bind(to: me)
    prepareHandle.bind(to: me)
    checkHandle.bind(to: me)
    idleHandle.bind(to: me)
    uv_prepare_start(prepareHandle.pointer) { pointer in
      guard let loop = owner(of: pointer, as: SocketLoop.self) else { return }
      loop.runTurn()
      loop.sleepUnlessBusy()
    }
    uv_check_start(checkHandle.pointer) { pointer in
      guard let loop = owner(of: pointer, as: SocketLoop.self) else { return }
      loop.local += loop.deferred
      loop.deferred = []
      loop.runShares()
      loop.runTurn()
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

  /// Runs the queued work, and writes what that work and earlier messages have sent.
  private func runTurn() {
    // Bounded, so that jobs that enqueue jobs do not starve the sockets.
    for _ in 0..<16 where !local.isEmpty {
      var items: [LoopItem] = []
      swap(&items, &local)
      for item in items { run(item) }
    }
    flush()
  }

  /// Writes a connection's data at the end of this turn. If very many connections wait, it writes
  /// theirs now, so that their blocks become free.
  func flushLater(_ connection: SocketConnection) {
    if unflushed.count >= BufferPool.maximumBlocks { flush() }
    unflushed.append(connection)
  }

  /// The same for a streamed response.
  func flushLater(_ stream: StreamedResponse) {
    if unflushedStreams.count >= BufferPool.maximumBlocks { flush() }
    unflushedStreams.append(stream)
  }

  private func flush() {
    endCount = 0
    if !unflushedStreams.isEmpty { flushStreams() }
    guard !unflushed.isEmpty else { return }
    var connections: [SocketConnection] = []
    swap(&connections, &unflushed)
    for connection in connections { connection.flushAtTurnEnd() }
    if unflushed.isEmpty {
      connections.removeAll(keepingCapacity: true)
      swap(&connections, &unflushed)
    }
  }

  private func flushStreams() {
    var streams: [StreamedResponse] = []
    swap(&streams, &unflushedStreams)
    for stream in streams { stream.flushAtTurnEnd() }
  }

  /// libuv waits for events after this, so it must not if jobs are left.
  private func sleepUnlessBusy() {
    if local.isEmpty, deferred.isEmpty, bulkWork.isEmpty, dueTimers.isEmpty {
      uv_idle_stop(idleHandle.pointer)
    } else {
      uv_idle_start(idleHandle.pointer) { _ in }
    }
  }

  private func run() {
    if !isStopping { uv_run(uv, UV_RUN_DEFAULT) }
    isStopping = true
    for (_, end) in shutdownHandlers { end() }
    shutdownHandlers = [:]
    for (handle, timer) in timers.values {
      _ = timer.claim()
      handle.close()
    }
    timers = [:]
    let isContextDestroyed = destroyContext()
    for work in bulkWork.removeAll() { work.run() }
    queue.disableWakeup()
    if isContextDestroyed {
      closeHandles()
      uv_run(uv, UV_RUN_DEFAULT)
      if uv_loop_close(uv) == 0 { uv.deallocate() }
    }
    end()
  }

  /// Destroys the context. lws_context_destroy closes its sockets through libuv, so the loop must
  /// turn between its two phases.
  ///
  /// Returns false if lws has left handles on the loop. Then neither the loop nor the context can
  /// be freed.
  private func destroyContext() -> Bool {
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
    for host in virtualHosts { host.release() }
    clientSockets = nil
    return isAtRest
  }

  private func closeHandles() {
    wakeupHandle.close()
    prepareHandle.close()
    checkHandle.close()
    idleHandle.close()
  }

  private func end() {
    hasEnded = true
    receiveBuffer.deallocate()
    LibuvLoopIdentity.set(nil)
    queue.end(
      local: local + deferred, successor: successor, run: { [self] item in runAsSuccessor(item) })
    local = []
    deferred = []
    let waiters = shutdownState.withLock { state in
      state.isComplete = true
      let waiters = state.waiters
      state.waiters = []
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Whether only the loop's own handles are left.
  private func isContextAtRest() -> Bool {
    let own = [wakeupHandle.base, prepareHandle.base, checkHandle.base, idleHandle.base]
    return handles(on: uv).allSatisfy(own.contains)
  }
}
