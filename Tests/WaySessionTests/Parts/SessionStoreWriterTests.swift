import Testing
import WayTransport

@testable import WaySession

/// The writer, with walks that the test performs.
@Suite(.timeLimit(.minutes(1)))
struct SessionStoreWriterTests {
  private static let many = 100

  /// A session with one part.
  private final class PartSource: SessionJournal.JournalSource {
    func steps(
      for parts: Set<SessionPart>?, isAwaited: Bool, number: Int
    ) -> [SessionChange.ChangeStep] { [] }
    func didStore(through number: Int) {}
    func didLoseOwnership(_ reason: SessionJournal.OwnershipChange) {}
  }

  /// A walk that was started, and has not visited anything yet.
  private struct StartedWalk: Sendable {
    let count: Int
    let visit: @Sendable (Int) -> Void
    let completion: @Sendable () -> Void
  }

  private let loop = MemoryLoop()
  private let store = MemorySessionStore()
  private let walks: AsyncStream<StartedWalk>
  private let writer: SessionStoreWriter
  private let source = PartSource()

  init() {
    let (walks, sink) = AsyncStream<StartedWalk>.makeStream()
    self.walks = walks
    writer = SessionStoreWriter(
      SessionStoreQueue(store, owner: "a"), on: loop,
      startWalk: { count, _, visit, completion in
        sink.yield(StartedWalk(count: count, visit: visit, completion: completion))
      }, report: { _ in })
  }

  /// Runs `work` on the loop.
  private func onLoop<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      loop.execute { continuation.resume(returning: work()) }
    }
  }

  /// Makes journals of new sessions, each with a change that a message waits for. `released` has
  /// the sessions whose message was released.
  private func makeJournals(_ count: Int, released: Locked<[String]>) async -> [SessionJournal] {
    await onLoop { [writer, source] in
      (0..<count).map { number in
        let session = "s-\(number)"
        let journal = SessionJournal(of: session, SessionLease(owner: "a", term: 1), writer)
        journal.source = source
        journal.recordChange(.session)
        journal.whenStored { released.withLock { $0.append(session) } }
        return journal
      }
    }
  }

  private func nextWalk() async throws -> StartedWalk {
    var iterator = walks.makeAsyncIterator()
    return try #require(await iterator.next())
  }

  /// Makes all visits of the next walk, and returns their number.
  private func performWalk() async throws -> Int {
    let walk = try await nextWalk()
    return await onLoop {
      for number in 0..<walk.count { walk.visit(number) }
      walk.completion()
      return walk.count
    }
  }

  private func storedSessions() async -> Set<String> { Set(await store.sessions.map(\.id)) }

  @Test func changesOfManySessionsAreMadeAndReleasedInWalks() async throws {
    let released = Locked<[String]>([])
    let journals = await makeJournals(Self.many, released: released)
    #expect(try await performWalk() == Self.many)
    let walk = try await nextWalk()
    #expect(await storedSessions().count == Self.many)
    #expect(released.withLock { $0.isEmpty })
    // A change that is made meanwhile does not wait for the walk.
    await onLoop { journals[0].recordChange(.session) }
    await onLoop { walk.visit(1) }
    #expect(released.withLock { !$0.isEmpty })
    let isIdle = Locked(false)
    let idle = await onLoop { [writer, loop] in
      Task(executorPreference: loop) {
        await writer.waitUntilIdle()
        isIdle.withLock { $0 = true }
      }
    }
    await loop.settle()
    #expect(!isIdle.withLock { $0 })
    await onLoop {
      for number in 0..<walk.count { walk.visit(number) }
      walk.completion()
    }
    await idle.value
    #expect(Set(released.withLock { $0 }) == Set(journals.map(\.session)))
    let changes = await onLoop { [writer] in writer.writes.changes }
    #expect(changes == Self.many + 1)
  }

  /// A store that is faster than the release of messages makes no walks pile up.
  @Test func releasesOfLaterWritesAddUpToOneWalk() async throws {
    let released = Locked<[String]>([])
    let journals = await makeJournals(Self.many, released: released)
    #expect(try await performWalk() == Self.many)
    let first = try await nextWalk()
    for _ in 0..<3 {
      let stored = await onLoop { [writer] in writer.writes.changes } + Self.many
      await onLoop {
        for journal in journals {
          journal.recordChange(.session)
          journal.whenStored { released.withLock { $0.append(journal.session) } }
        }
      }
      #expect(try await performWalk() == Self.many)
      // The releases of a write are added when it ends.
      while await onLoop({ [writer] in writer.isWriting || writer.writes.changes < stored }) {
        await loop.settle()
      }
    }
    #expect(released.withLock { $0 } == [])
    await onLoop {
      for number in 0..<first.count { first.visit(number) }
      first.completion()
    }
    #expect(released.withLock { $0.count } == Self.many)
    #expect(try await performWalk() == Self.many)
    #expect(released.withLock { $0.count } == 4 * Self.many)
    await onLoop { [writer, loop] in
      Task(executorPreference: loop) { await writer.waitUntilIdle() }
    }.value
  }

  @Test func changesOfFewSessionsNeedNoWalk() async {
    let released = Locked<[String]>([])
    let journals = await makeJournals(3, released: released)
    await onLoop { [writer, loop] in
      Task(executorPreference: loop) { await writer.flush() }
    }.value
    #expect(released.withLock { $0.count } == journals.count)
    #expect(await storedSessions().count == journals.count)
  }

  @Test func flushWaitsForChangesThatWereMadeDuringAWrite() async {
    await store.pause()
    let journals = await makeJournals(2, released: Locked([]))
    await store.waitForPendingAppend()
    let released = Locked(false)
    let flush = await onLoop { [writer, loop] in
      journals[1].recordChange(.session)
      journals[1].whenStored { released.withLock { $0 = true } }
      return Task(executorPreference: loop) {
        await writer.flush()
        return released.withLock { $0 }
      }
    }
    await loop.settle()
    await store.resume()
    #expect(await flush.value)
  }

  @Test func aSessionThatIsLostDuringTheWalkIsNotWritten() async throws {
    let journals = await makeJournals(Self.many, released: Locked([]))
    let walk = try await nextWalk()
    await onLoop {
      walk.visit(0)
      for journal in journals { journal.abandon() }
      for number in 1..<walk.count { walk.visit(number) }
      walk.completion()
    }
    await onLoop { [writer, loop] in
      Task(executorPreference: loop) { await writer.waitUntilIdle() }
    }.value
    #expect(await storedSessions().count == 1)
  }

  @Test func aFailedStoreReleasesAndRetriesInWalks() async throws {
    struct StoreFullError: Error {}
    let released = Locked<[String]>([])
    await store.fail(with: StoreFullError())
    let journals = await makeJournals(Self.many, released: released)
    #expect(try await performWalk() == Self.many)
    #expect(try await performWalk() == Self.many)
    #expect(released.withLock { $0.count } == Self.many)
    #expect(await storedSessions().isEmpty)
    await store.fail(with: nil)
    await loop.advance(by: .seconds(1))
    #expect(try await performWalk() == Self.many)
    #expect(try await performWalk() == Self.many)
    #expect(await storedSessions() == Set(journals.map(\.session)))
    let failure = await onLoop { [writer] in writer.failure }
    #expect(failure == nil)
  }
}
