import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Walks over the sessions of a loop, which give other work its turn. Each reading of the loop's
/// clock takes as long as a walk may use of a turn, so that each turn visits one session.
@Suite(.timeLimit(.minutes(1)))
struct SessionWalkTests {
  private static let count = 8
  private let router = Router()
  private let bridge: InMemoryBridge
  private let log = Locked<[String]>([])
  /// What the first visit of a push does, on the loop.
  private let onFirstVisit = Locked<(@Sendable () -> Void)?>(nil)
  private let channels: [LoopChannel]

  init() async throws {
    let share = Int64(SessionWalkQueue<Int>.share)
    let loop = MemoryLoop(readingTime: .nanoseconds(share))
    bridge = InMemoryBridge(router, loop: loop)
    let bridge = bridge
    channels = await withCheckedContinuation { continuation in
      loop.execute {
        continuation.resume(
          returning: (0..<Self.count).map { _ in LoopChannel(to: bridge) })
      }
    }
    await loop.settle()
    let (log, onFirstVisit) = (log, onFirstVisit)
    try router.task("action://mark/:text") { call in
      let text = call.params["text"]?.string ?? ""
      log.withLock { $0.append("\(text) \(call.caller.session)") }
      let first = onFirstVisit.withLock { work in
        defer { work = nil }
        return work
      }
      first?()
      return .null
    }
  }

  private var loop: MemoryLoop { bridge.server.loop }

  /// Runs `work` on the loop. Returns when the tasks that it has returned have ended.
  private func onLoop(_ work: @escaping @Sendable () -> [Task<Void, Never>]) async {
    let loop = loop
    let tasks = await withCheckedContinuation { continuation in
      loop.execute { continuation.resume(returning: work()) }
    }
    for task in tasks { await task.value }
    await loop.settle()
  }

  private var entries: [String] { log.withLock { $0 } }

  private func push(_ text: String, to audience: Audience = .all) -> SessionPush {
    SessionPush(
      audience: audience, action: .invoke(uri: "action://mark/\(text)", exts: [:]), params: [:],
      timeout: .seconds(10), method: "router.invoke")
  }

  private func sessions() async -> [String] {
    await bridge.sessionServer.dispatch.sessions(.all).map(\.id)
  }

  @Test func otherWorkRunsBetweenVisits() async {
    let (loop, log) = (loop, log)
    onFirstVisit.withLock { work in
      work = { loop.execute { log.withLock { $0.append("other") } } }
    }
    let collector = PushCollector(maxBytes: .max)
    await bridge.loopSessions.push(push("a"), by: nil, into: collector)
    #expect(collector.result.receipt == DeliveryReceipt(delivered: Self.count))
    #expect(entries.count == Self.count + 1)
    #expect(entries.firstIndex(of: "other") == 1)
  }

  @Test func queriesWaitForTurnsToo() async {
    let loopSessions = bridge.loopSessions
    let (loop, log) = (loop, log)
    await onLoop {
      let tasks = ["totals", "list"].map { name in
        loopSessions.start {
          if name == "totals" { _ = await $0.totals() } else { _ = await $0.sessions(.all) }
          log.withLock { $0.append(name) }
        }
      }
      loop.execute { log.withLock { $0.append("other") } }
      return tasks
    }
    #expect(entries == ["other", "totals", "list"])
  }

  @Test func eachSessionGetsPushesInOrder() async throws {
    let ids = await sessions()
    let last = try #require(ids.last)
    let loopSessions = bridge.loopSessions
    let collector = PushCollector(maxBytes: .max)
    let pushes = [push("b"), push("c", to: .session(last)), push("d")]
    let tasks = Locked<[Task<Void, Never>]>([])
    onFirstVisit.withLock { work in
      work = {
        let started = pushes.map { push in
          loopSessions.start { await $0.push(push, by: nil, into: collector) }
        }
        tasks.withLock { $0 = started }
      }
    }
    await loopSessions.push(push("a"), by: nil, into: collector)
    for task in tasks.withLock({ $0 }) { await task.value }
    for id in ids {
      let texts = entries.filter { $0.hasSuffix(id) }.map { String($0.prefix(1)) }
      #expect(texts == (id == last ? ["a", "b", "c", "d"] : ["a", "b", "d"]))
    }
  }

  @Test func sessionsThatEndOrBeginMeanwhileAreLeftOut() async throws {
    let (channels, bridge) = (channels, bridge)
    onFirstVisit.withLock { work in
      work = {
        channels[Self.count - 1].end()
        channels[3].end()
        _ = LoopChannel(to: bridge)
      }
    }
    let collector = PushCollector(maxBytes: .max)
    await bridge.loopSessions.push(push("a"), by: nil, into: collector)
    await loop.settle()
    #expect(collector.result.receipt == DeliveryReceipt(delivered: Self.count - 2))
    #expect(await sessions().count == Self.count - 1)
  }

  @Test func aPushWhoseCallerLeavesStops() async {
    let loopSessions = bridge.loopSessions
    let collector = PushCollector(maxBytes: .max)
    let running = Locked<Task<Void, Never>?>(nil)
    onFirstVisit.withLock { work in
      work = { running.withLock { $0?.cancel() } }
    }
    let push = push("a")
    await onLoop {
      let task = loopSessions.start { await $0.push(push, by: nil, into: collector) }
      running.withLock { $0 = task }
      return [task]
    }
    #expect(entries.count == 1)
    // The next push does not wait for it.
    await loopSessions.push(push, by: nil, into: collector)
    #expect(entries.count == 1 + Self.count)
  }

  /// `topics` are subscribed before the event is published, and while it is on its way to the
  /// sessions.
  @Test(
    arguments: [
      (before: nil, meanwhile: "news", retained: 1, unretained: 0),
      (before: "news", meanwhile: nil, retained: 1, unretained: 1),
      (before: "n*", meanwhile: "news", retained: 1, unretained: 1),
      (before: "other", meanwhile: "news", retained: 1, unretained: 0),
    ] as [(before: String?, meanwhile: String?, retained: Int, unretained: Int)])
  func aSubscriberGetsAnEventOnce(
    before: String?, meanwhile: String?, retained: Int, unretained: Int
  ) async {
    let (channels, loopSessions, loop) = (channels, bridge.loopSessions, loop)
    for (retain, count) in [(0, unretained), (1, retained)] {
      let known = channels.map { $0.notifications("event").count }
      await onLoop {
        if let before {
          for channel in channels {
            channel.call("events.subscribe", #"{"topics":["\#(before)"]}"#)
          }
        }
        let publishing = loopSessions.start {
          _ = await $0.publish(
            Array(#"{"jsonrpc":"2.0","method":"event","params":{}}"#.utf8), "news", to: .all,
            retain: retain)
        }
        // The first session has got the event by then, and the last one has not.
        loop.execute {
          let counts = zip(channels, known).map { $0.notifications("event").count - $1 }
          if before == "news" { #expect(counts.first == 1 && counts.last == 0) }
          for channel in channels {
            guard let meanwhile else { continue }
            channel.call("events.subscribe", #"{"topics":["\#(meanwhile)"]}"#)
          }
        }
        return [publishing]
      }
      let counts = zip(channels, known).map { $0.notifications("event").count - $1 }
      #expect(counts == Array(repeating: count, count: Self.count), "retain: \(retain)")
      await onLoop {
        for channel in channels {
          for topic in [before, meanwhile] {
            guard let topic else { continue }
            channel.call("events.unsubscribe", #"{"topics":["\#(topic)"]}"#)
          }
        }
        return []
      }
    }
  }

  @Test func theShutdownReachesEverySession() async {
    await bridge.sessionServer.drain(for: .milliseconds(1))
    for channel in channels {
      #expect(channel.notifications("event").map { $0["topic"] } == ["server.draining"])
    }
    await bridge.sessionServer.drain()
  }
}

extension LoopSessions {
  /// Starts work that runs on the loop, after what is queued there. Call it on the loop.
  @discardableResult
  fileprivate nonisolated func start(
    _ work: @escaping @Sendable (isolated LoopSessions) async -> Void
  ) -> Task<Void, Never> {
    assumeIsolated { loopSessions in Task { await work(loopSessions) } }
  }
}
