import Synchronization
import Testing
import WayTransport

@testable import WaySockets

/// Isolated to a loop, as sessions are.
private actor LoopActor {
  private let loop: SocketLoop
  private(set) var log: [Int] = []

  init(_ loop: SocketLoop) {
    self.loop = loop
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func add(_ value: Int) {
    log.append(value)
  }

  nonisolated func addIsolated(_ value: Int) {
    assumeIsolated { $0.log.append(value) }
  }
}

private func collectValues<Element: Sendable>(
  _ count: Int, _ body: (AsyncStream<Element>.Continuation) async throws -> Void
) async rethrows -> [Element] {
  let (stream, sink) = AsyncStream<Element>.makeStream()
  try await body(sink)
  var iterator = stream.makeAsyncIterator()
  var all: [Element] = []
  while all.count < count, let next = await iterator.next() { all.append(next) }
  return all
}

@Suite struct SocketLoopTests {
  @Test func `Jobs from another thread run in order`() async throws {
    let loop = try SocketLoop.start()
    let seen = await collectValues(1000) { sink in
      for value in 0..<1000 { loop.execute { sink.yield(value) } }
    }
    #expect(seen == Array(0..<1000))
    await loop.shutdown()
  }

  @Test func `Callbacks enter an actor on the loop without switching`() async throws {
    let loop = try SocketLoop.start()
    let resident = LoopActor(loop)
    await resident.add(1)
    await withCheckedContinuation { continuation in
      loop.execute {
        resident.addIsolated(2)
        continuation.resume()
      }
    }
    #expect(await resident.log == [1, 2])
    #expect(loop.isIsolatingCurrentContext() == false)
    await loop.shutdown()
  }

  @Test func `A task that prefers the loop runs on it`() async throws {
    let loop = try SocketLoop.start()
    let isOnLoop = await Task(executorPreference: loop) { loop.isIsolatingCurrentContext() }.value
    #expect(isOnLoop == true)
    await loop.shutdown()
  }

  @Test func `Timers fire in the order of their deadlines`() async throws {
    let loop = try SocketLoop.start()
    let seen = await collectValues(3) { sink in
      for delay in [60, 20, 40] {
        _ = loop.schedule(after: .milliseconds(delay)) { sink.yield(delay) }
      }
    }
    #expect(seen == [20, 40, 60])
    await loop.shutdown()
  }

  @Test func `A cancelled timer never fires`() async throws {
    let loop = try SocketLoop.start()
    let seen = await collectValues(1) { sink in
      let early = loop.schedule(after: .milliseconds(10)) { sink.yield("cancelled") }
      early.cancel()
      early.cancel()
      _ = loop.schedule(after: .milliseconds(30)) { sink.yield("kept") }
    }
    #expect(seen == ["kept"])
    await loop.shutdown()
  }

  @Test func `A timer cancelled on the loop does not fire in the same turn`() async throws {
    let loop = try SocketLoop.start()
    let seen = await collectValues(2) { sink in
      loop.execute {
        let slot = Locked<(any ScheduledWork)?>(nil)
        _ = loop.schedule(after: .zero) {
          sink.yield("first")
          slot.withLock { $0?.cancel() }
        }
        slot.withLock { $0 = loop.schedule(after: .zero) { sink.yield("second") } }
        _ = loop.schedule(after: .milliseconds(20)) { sink.yield("last") }
      }
    }
    #expect(seen == ["first", "last"])
    await loop.shutdown()
  }

  @Test(arguments: [Duration.seconds(-1), .zero, .nanoseconds(1)])
  func `A delay in the past fires at once`(delay: Duration) async throws {
    let loop = try SocketLoop.start()
    let seen = await collectValues(1) { sink in
      _ = loop.schedule(after: delay) { sink.yield(true) }
    }
    #expect(seen == [true])
    await loop.shutdown()
  }

  @Test func `Accepts a delay longer than the clock's range`() async throws {
    let loop = try SocketLoop.start()
    let work = loop.schedule(after: .seconds(Int64.max)) { Issue.record("fired") }
    await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    work.cancel()
    await loop.shutdown()
  }

  @Test func `Timers fire while jobs keep enqueueing jobs`() async throws {
    let loop = try SocketLoop.start()
    let isDone = Locked(false)
    @Sendable func again() {
      if !isDone.withLock({ $0 }) { loop.execute(again) }
    }
    let seen = await collectValues(1) { sink in
      loop.execute(again)
      _ = loop.schedule(after: .milliseconds(5)) {
        isDone.withLock { $0 = true }
        sink.yield(true)
      }
    }
    #expect(seen == [true])
    await loop.shutdown()
  }

  @Test func `Jobs run in order after shutdown`() async throws {
    let loop = try SocketLoop.start()
    let resident = LoopActor(loop)
    await loop.shutdown()
    await resident.add(1)
    let seen = await collectValues(100) { sink in
      for value in 0..<100 {
        loop.execute {
          resident.addIsolated(value)
          sink.yield(value)
        }
      }
    }
    #expect(seen == Array(0..<100))
    #expect(await resident.log == [1] + Array(0..<100))
  }

  @Test func `Work for a later turn runs after shutdown`() async throws {
    let loop = try SocketLoop.start()
    await loop.shutdown()
    let seen = await collectValues(2) { sink in
      loop.executeLater {
        sink.yield(1)
        loop.executeLater { sink.yield(2) }
      }
    }
    #expect(seen == [1, 2])
  }

  @Test func `Timers that are due together leave other work its turn`() async throws {
    let loop = try SocketLoop.start()
    let seen = await collectValues(21) { sink in
      loop.execute {
        for number in 1...20 {
          _ = loop.schedule(after: .zero) {
            sink.yield(number)
            if number == 1 { loop.execute { sink.yield(0) } }
            loop.spend(.milliseconds(1))
          }
        }
        // All are due before the loop looks at the first one.
        loop.spend(.milliseconds(5))
      }
    }
    #expect(seen.last == 20)
    #expect(seen.filter { $0 > 0 } == Array(1...20))
    await loop.shutdown()
  }

  @Test func `No job is lost during shutdown`() async throws {
    for _ in 0..<20 {
      let loop = try SocketLoop.start()
      let resident = LoopActor(loop)
      await withTaskGroup { group in
        for value in 0..<200 { group.addTask { await resident.add(value) } }
        group.addTask { await loop.shutdown() }
      }
      #expect(await resident.log.count == 200)
    }
  }

  @Test func `Pending timers are dropped at shutdown`() async throws {
    let loop = try SocketLoop.start()
    let fired = Locked(0)
    for _ in 0..<3 {
      _ = loop.schedule(after: .seconds(3600)) { fired.withLock { $0 += 1 } }
    }
    await loop.shutdown()
    _ = loop.schedule(after: .zero) { fired.withLock { $0 += 1 } }
    await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    #expect(fired.withLock { $0 } == 0)
  }

  @Test func `Shutdown can be called repeatedly and from the loop`() async throws {
    let loop = try SocketLoop.start()
    await withTaskGroup { group in
      for _ in 0..<5 { group.addTask { await loop.shutdown() } }
      group.addTask { await Task(executorPreference: loop) { await loop.shutdown() }.value }
    }
    await loop.shutdown()
  }
}

extension SocketLoop {
  /// Occupies the loop. Call it on the loop.
  func spend(_ time: Duration) {
    let end = nanoseconds + time.wholeMilliseconds * 1_000_000
    while nanoseconds < end {}
  }
}
