import Testing

@testable import WaybridgeCluster

struct NATSQuorumTests {
  private static let voters = ["a:1", "b:1", "c:1"]
  private static let second: UInt64 = 1_000_000_000
  private var quorum = NATSQuorum(voters: voters)

  private static func signal(
    _ server: String, _ natsServer: String, isLeaseHolder: Bool = true
  ) -> NATSQuorumSignal {
    NATSQuorumSignal(
      server: server, natsServer: natsServer, number: 1, isLeaseHolder: isLeaseHolder)
  }

  private mutating func connect(_ voters: String..., at time: UInt64 = 0) {
    for voter in voters { quorum.connect(voter, to: "id-\(voter)", at: time * Self.second) }
  }

  private mutating func complete(_ voters: String..., at time: UInt64, extends: Bool = false) {
    for voter in voters {
      quorum.complete(voter, sentAt: time * Self.second, extends: extends)
    }
  }

  private func hasEnded(_ since: UInt64, at time: UInt64, voters: [String] = voters) -> Bool {
    quorum.hasEnded(
      leaseOf: "s", voters: voters, unchangedSince: since * Self.second, at: time * Self.second)
  }

  @Test mutating func majorityExtendsLease() {
    connect("a:1", "b:1", "c:1")
    complete("a:1", at: 12, extends: true)
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) == nil)
    // A round of an observer extends nothing.
    complete("b:1", at: 13)
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) == nil)
    complete("b:1", at: 14, extends: true)
    let first = 12 * Self.second + NATSQuorum.validity
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) == first)
    complete("c:1", at: 15, extends: true)
    let second = 14 * Self.second + NATSQuorum.validity
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) == second)
    // Not for ever.
    complete("a:1", "b:1", at: 29, extends: true)
    let last = 10 * Self.second + NATSQuorum.maxExtension
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) == last)
  }

  @Test mutating func addressesOfOneServerCountOnce() {
    for voter in ["a:1", "b:1"] { quorum.connect(voter, to: "same", at: 0) }
    complete("a:1", "b:1", at: 12, extends: true)
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) == nil)
    #expect(!hasEnded(2, at: 13))
    connect("c:1")
    complete("c:1", at: 12, extends: true)
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) != nil)
    #expect(hasEnded(2, at: 13))
  }

  @Test mutating func silenceOfMajorityEndsLease() {
    connect("a:1", "b:1", "c:1")
    complete("a:1", at: 20)
    #expect(!hasEnded(10, at: 20))
    complete("b:1", at: 20)
    #expect(hasEnded(10, at: 20))
    quorum.receive(Self.signal("s", "id-a:1"), through: "a:1", at: 21 * Self.second)
    complete("a:1", "b:1", at: 22)
    #expect(!hasEnded(10, at: 22))
    // The signals of other servers, and those without a lease, do not count.
    quorum.receive(Self.signal("t", "id-c:1"), through: "c:1", at: 21 * Self.second)
    quorum.receive(
      Self.signal("s", "id-c:1", isLeaseHolder: false), through: "c:1", at: 21 * Self.second)
    complete("c:1", at: 22)
    #expect(hasEnded(10, at: 22))
  }

  @Test mutating func silenceMustFollowRenewalsAndBeObserved() {
    connect("a:1", "b:1")
    complete("a:1", "b:1", at: 20)
    // A renewal was seen too recently before the round.
    #expect(!hasEnded(16, at: 22))
    #expect(hasEnded(15, at: 22))
    // Signals may be missing before a new connection.
    connect("b:1", at: 21)
    #expect(!hasEnded(10, at: 22))
    complete("a:1", "b:1", at: 25)
    #expect(!hasEnded(10, at: 25))
    complete("a:1", "b:1", at: 26)
    #expect(hasEnded(10, at: 26))
    quorum.disconnect("a:1")
    #expect(!hasEnded(10, at: 26))
  }

  @Test mutating func roundsMustOverlap() {
    connect("a:1", "b:1")
    complete("a:1", at: 20)
    quorum.receive(Self.signal("s", "id-b:1"), through: "b:1", at: 17 * Self.second)
    complete("b:1", at: 25)
    // At the time of the older round, the other voter was not silent for long.
    #expect(!hasEnded(10, at: 25))
    complete("a:1", at: 22)
    #expect(hasEnded(10, at: 25))
  }

  @Test mutating func leasesEndWithoutVotesInTheEnd() {
    #expect(!hasEnded(10, at: 31))
    #expect(hasEnded(10, at: 32))
    #expect(!hasEnded(10, at: 14, voters: []))
    #expect(hasEnded(10, at: 15, voters: []))
  }

  @Test mutating func majorityIsThatOfTheOtherServer() {
    connect("a:1", "b:1", "c:1")
    complete("a:1", "b:1", "c:1", at: 20)
    #expect(hasEnded(10, at: 20, voters: ["b:1", "c:1", "d:1"]))
    #expect(!hasEnded(10, at: 20, voters: ["c:1", "d:1", "e:1"]))
  }

  @Test mutating func ambiguousAddressDoesNotCount() {
    connect("a:1", "b:1")
    #expect(quorum.connectedCount == 2)
    quorum.receive(
      Self.signal("s", "other", isLeaseHolder: false), through: "a:1", at: Self.second)
    complete("a:1", "b:1", at: 20, extends: true)
    #expect(quorum.connectedCount == 1)
    #expect(!hasEnded(10, at: 20))
    #expect(quorum.extensionEnd(renewedAt: 10 * Self.second) == nil)
    connect("a:1", at: 21)
    #expect(quorum.connectedCount == 2)
  }

  @Test mutating func manyServersDoNotMakeOthersSilent() {
    connect("a:1", "b:1")
    quorum.receive(Self.signal("s", "id-a:1"), through: "a:1", at: 18 * Self.second)
    for number in 0..<NATSQuorum.maxServers {
      quorum.receive(Self.signal("s\(number)", "id-a:1"), through: "a:1", at: 18 * Self.second)
    }
    complete("a:1", "b:1", at: 20)
    #expect(!hasEnded(10, at: 20))
    complete("a:1", "b:1", at: 23)
    #expect(hasEnded(10, at: 23))
  }

  /// Whatever fails, a lease has ended when another server removes it.
  @Test func removedLeaseIsNeverValid() {
    var removals = 0
    var removalsByVotes = 0
    var extensions = 0
    for seed: UInt64 in 0..<100 {
      var simulation = NATSQuorumSimulation(seed: seed)
      simulation.run(seconds: 120)
      let outcome = simulation.outcome
      #expect(outcome.violations == 0, "seed \(seed)")
      if outcome.isRemoved { removals += 1 }
      if outcome.isRemovedByVotes { removalsByVotes += 1 }
      extensions += outcome.extensions
    }
    #expect(removalsByVotes > 40)
    #expect(removals > removalsByVotes + 20)
    #expect(extensions > 500)
  }

  @Test(arguments: ["", "lease", "lease 1 N", "lease x N s", "other 1 N s", "lease -1 N s"])
  func invalidSignalIsIgnored(_ text: String) {
    #expect(NATSQuorumSignal(Array(text.utf8)) == nil)
  }

  @Test func signalHasOneForm() {
    for isLeaseHolder in [false, true] {
      let signal = Self.signal("the server", "N", isLeaseHolder: isLeaseHolder)
      #expect(NATSQuorumSignal(signal.bytes) == signal)
    }
    #expect(NATSQuorumSignal(Self.signal("s", "N").bytes + [0xFF]) == nil)
    #expect(
      NATSQuorumSignal(Self.signal("s", "N").bytes + Array(repeating: 97, count: 1024)) == nil)
  }
}
