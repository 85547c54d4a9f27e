import Testing
import WaySession

@testable import WaybridgeCluster

struct JetStreamSessionLogTests {
  private static let lease = SessionLease(owner: "a", term: 2)

  /// A lookup of the last message of a log, and the owner of the session by it.
  struct OwnerCase: Sendable {
    /// The term of the last message of another server; nil if the log is empty.
    var term: Int64?
    /// The last message that was acknowledged; 0 for none.
    var acknowledged: UInt64 = 5
    /// How often the server has lost its lease since it wrote that message; nil if it has none.
    var losses: Int? = 0
    var isReleasing = false
    var owner: JetStreamSessionLog.LogOwner
  }

  @Test(arguments: [
    OwnerCase(owner: .thisServer),
    OwnerCase(losses: 1, owner: .otherServer),
    OwnerCase(losses: nil, owner: .otherServer),
    OwnerCase(isReleasing: true, owner: .otherServer),
    OwnerCase(acknowledged: 0, losses: nil, owner: .thisServer),
    OwnerCase(term: 1, owner: .thisServer),
    OwnerCase(term: 1, acknowledged: 0, owner: .thisServer),
    OwnerCase(term: 1, losses: 1, owner: .otherServer),
    OwnerCase(term: 1, losses: nil, owner: .otherServer),
    OwnerCase(term: 1, isReleasing: true, owner: .otherServer),
    OwnerCase(term: 2, owner: .thisServerIfStored(5)),
    OwnerCase(term: 3, owner: .thisServerIfStored(5)),
    OwnerCase(term: 3, acknowledged: 0, owner: .otherServer),
    OwnerCase(term: 3, losses: 1, owner: .otherServer),
    OwnerCase(term: 3, isReleasing: true, owner: .otherServer),
  ])
  func lastMessageDeterminesOwner(_ lookup: OwnerCase) {
    var log = JetStreamSessionLog(
      lease: Self.lease, lastSequence: lookup.acknowledged, leaseLosses: 0)
    if lookup.isReleasing { log.markReleased() }
    let other = lookup.term.map { SessionLease(owner: "b", term: $0) }
    #expect(log.owner(ifLastLease: other, leaseLosses: lookup.losses) == lookup.owner)
    // The session is its own after its own message, at any time.
    #expect(log.owner(ifLastLease: Self.lease, leaseLosses: lookup.losses) == .thisServer)
  }

  @Test func lookupFindsLossOfAcknowledgedMessages() {
    var log = JetStreamSessionLog(lease: Self.lease, lastSequence: 0)
    log.add(5, 10, begins: true, leaseLosses: 0)
    for (last, isLoss) in [(9, false), (5, false), (4, true), (4, false), (0, true)] {
      log.markUncertain()
      #expect(log.lastSequence == nil)
      #expect(log.setLast(UInt64(last)) == isLoss, "\(last)")
      #expect(log.lastSequence == UInt64(last))
      // The messages that are lost do not count.
      #expect(log.acknowledgedSequence == UInt64(min(last, 5)))
      #expect(log.messageCount == (last < 5 ? 0 : 1))
    }
  }
}
