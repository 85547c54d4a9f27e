import Testing
import WaySession
import WayValues

@testable import WaybridgeCluster

struct JetStreamSessionLogBatchTests {
  private func change(
    of session: String, isEnd: Bool = false, isRelease: Bool = false
  ) -> SessionChange {
    SessionChange(
      session: session, lease: SessionLease(owner: "a", term: 1), steps: [], isEnd: isEnd,
      isRelease: isRelease)
  }

  private func publication(after number: UInt64) -> NATSConnection.Publication {
    NATSConnection.Publication(subject: "s", bytes: [1], previousSequence: number)
  }

  @Test func keepsMessagesInOrderAndKnowsTheirSessions() {
    var batch = JetStreamSessionLogBatch()
    #expect(!batch.contains(UTF8Key("a")))
    batch.add(UTF8Key("b"), begins: true, publication(after: 4))
    batch.add(UTF8Key("a"), begins: false, publication(after: 3))
    #expect(batch.messages.map(\.session.text) == ["b", "a"])
    #expect(batch.messages.map(\.begins) == [true, false])
    #expect(batch.messages.map(\.publication.previousSequence) == [4, 3])
    #expect(["a", "b", "c"].map { batch.contains(UTF8Key($0)) } == [true, true, false])
  }

  /// A session ends with the last message of its change, not with earlier fragments.
  @Test func changeIsEffectiveOnceComplete() {
    var batch = JetStreamSessionLogBatch()
    batch.add(UTF8Key("a"), begins: true, publication(after: 1))
    #expect(batch.ended.isEmpty && batch.released.isEmpty)
    batch.complete(change(of: "a", isEnd: true))
    batch.complete(change(of: "b", isRelease: true))
    batch.complete(change(of: "c"))
    batch.complete(change(of: "d", isEnd: true, isRelease: true))
    #expect(batch.ended == [UTF8Key("a"), UTF8Key("d")])
    #expect(batch.released == [UTF8Key("b"), UTF8Key("d")])
  }
}
