import Testing
import WayValues

@testable import WaySession

struct PeerTableTests {
  private static let second: UInt64 = 1_000_000_000
  private var peers = PeerTable()

  @Test mutating func numbersMessagesPerPeer() {
    let numbers = [0, 0, 0].map { peers.nextMessageNumber(to: "b", at: $0) }
    #expect(numbers == [1, 2, 3])
    let got1 = peers.nextMessageNumber(to: "c", at: 0)
    #expect(got1 == 1)
  }

  @Test(arguments: [
    ([1, 2, 3], [false, false, false]), ([1, 3, 4], [false, true, false]),
    // A server that sees a peer for the first time has missed its earlier messages.
    ([4, 5], [true, false]), ([1, 2, 1, 2], [false, false, true, false]),
  ])
  func detectsMissingMessages(_ numbers: [UInt64], _ missing: [Bool]) {
    var links = peers
    let seen = numbers.map { links.receive($0, from: "b", at: 0) }
    #expect(seen == missing)
  }

  @Test mutating func removesSilentPeersButNotAfterSuspension() {
    let isNew = peers.receivePresence(["sessions": 1], from: "b", at: Self.second)
    #expect(isNew)
    #expect(peers.isFresh("b", at: 2 * Self.second))
    #expect(!peers.isFresh("b", at: 4 * Self.second))
    let got2 = peers.removeSilent(at: 5 * Self.second)
    #expect(got2.isEmpty)
    peers.resetSilence(until: 60 * Self.second)
    let got3 = peers.removeSilent(at: 61 * Self.second)
    #expect(got3.isEmpty)
    let got4 = peers.removeSilent(at: 65 * Self.second)
    #expect(got4.map(\.server) == ["b"])
    #expect(peers.present.isEmpty)
    let got5 = peers.receivePresence([:], from: "b", at: 66 * Self.second)
    #expect(got5)
  }

  @Test mutating func choosesServerWithFewestSessionsAsSuccessor() {
    _ = peers.receivePresence(["sessions": 9], from: "b", at: 0)
    _ = peers.receivePresence(["sessions": 2], from: "c", at: 0)
    _ = peers.receivePresence(["sessions": 0, "draining": true], from: "d", at: 0)
    #expect(peers.successor(at: 0) == "c")
    #expect(peers.successor(at: 10 * Self.second) == nil)
  }

  @Test mutating func joinsMessagePartsUpToLimit() {
    _ = peers.receive(1, from: "b", at: 0)
    let got6 = peers.addFragment([1, 2], from: "b")
    #expect(got6)
    let got7 = peers.addFragment([3], from: "b")
    #expect(got7)
    let got8 = peers.removeFragments(from: "b")
    #expect(got8 == [1, 2, 3])
    let got9 = peers.removeFragments(from: "b")
    #expect(got9 == [])
    let half = [UInt8](repeating: 0, count: PeerTable.maxFragmentBytes / 2 + 1)
    let got10 = peers.addFragment(half, from: "b")
    #expect(got10)
    let got11 = peers.addFragment(half, from: "b")
    #expect(!got11)
    // Messages before a gap are incomplete.
    _ = peers.receive(5, from: "b", at: 0)
    let got12 = peers.removeFragments(from: "b")
    #expect(got12 == [])
  }

  @Test mutating func repeatsSequenceBeatsAfterLastMessage() {
    _ = peers.nextMessageNumber(to: "b", at: 0)
    let results = (0..<PeerTable.heartbeatCount + 1).map { _ in 0 }.map { _ in
      peers.dequeueHeartbeats()
    }
    #expect(results == Array(repeating: ["b"], count: PeerTable.heartbeatCount) + [[]])
    #expect(UInt64(PeerTable.heartbeatCount) * Self.second > PeerTable.silenceTimeout)
    _ = peers.nextMessageNumber(to: "b", at: 0, needsHeartbeats: false)
    let afterBeat = peers.dequeueHeartbeats()
    #expect(afterBeat == [])
  }
}
