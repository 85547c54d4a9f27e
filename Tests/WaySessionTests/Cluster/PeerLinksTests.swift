import Testing
import WayValues

@testable import WaySession

struct PeerLinksTests {
  private static let second: UInt64 = 1_000_000_000
  private var links = PeerTable()

  @Test mutating func messagesAreNumberedForEachServer() {
    let numbers = [0, 0, 0].map { links.numberForMessage(to: "b", at: $0) }
    #expect(numbers == [1, 2, 3])
    let got1 = links.numberForMessage(to: "c", at: 0)
    #expect(got1 == 1)
  }

  @Test(arguments: [
    ([1, 2, 3], [false, false, false]), ([1, 3, 4], [false, true, false]),
    // Who hears a server for the first time has missed what came before.
    ([4, 5], [true, false]), ([1, 2, 1, 2], [false, false, true, false]),
  ])
  func aMissingMessageIsSeenByTheNext(_ numbers: [UInt64], _ missing: [Bool]) {
    var links = links
    let seen = numbers.map { links.received($0, from: "b", at: 0) }
    #expect(seen == missing)
  }

  @Test mutating func whoIsSilentIsForgottenAndWhoOversleptJudgesNobody() {
    let isNew = links.heard(["sessions": 1], from: "b", at: Self.second)
    #expect(isNew)
    #expect(links.isFresh("b", at: 2 * Self.second))
    #expect(!links.isFresh("b", at: 4 * Self.second))
    let got2 = links.takeSilent(at: 5 * Self.second)
    #expect(got2.isEmpty)
    links.overslept(until: 60 * Self.second)
    let got3 = links.takeSilent(at: 61 * Self.second)
    #expect(got3.isEmpty)
    let got4 = links.takeSilent(at: 65 * Self.second)
    #expect(got4.map(\.server) == ["b"])
    #expect(links.present.isEmpty)
    let got5 = links.heard([:], from: "b", at: 66 * Self.second)
    #expect(got5)
  }

  @Test mutating func theServerWithFewestSessionsTakesOver() {
    _ = links.heard(["sessions": 9], from: "b", at: 0)
    _ = links.heard(["sessions": 2], from: "c", at: 0)
    _ = links.heard(["sessions": 0, "draining": true], from: "d", at: 0)
    #expect(links.successor(at: 0) == "c")
    #expect(links.successor(at: 10 * Self.second) == nil)
  }

  @Test mutating func piecesMakeAWholeAndHaveALimit() {
    _ = links.received(1, from: "b", at: 0)
    let got6 = links.add([1, 2], from: "b")
    #expect(got6)
    let got7 = links.add([3], from: "b")
    #expect(got7)
    let got8 = links.takePieces(from: "b")
    #expect(got8 == [1, 2, 3])
    let got9 = links.takePieces(from: "b")
    #expect(got9 == [])
    let half = [UInt8](repeating: 0, count: PeerTable.maxPieces / 2 + 1)
    let got10 = links.add(half, from: "b")
    #expect(got10)
    let got11 = links.add(half, from: "b")
    #expect(!got11)
    // What came before a gap belongs to nothing.
    _ = links.received(5, from: "b", at: 0)
    let got12 = links.takePieces(from: "b")
    #expect(got12 == [])
  }

  @Test mutating func whoWasSentSomethingIsToldUpToWhereForLongerThanSilence() {
    _ = links.numberForMessage(to: "b", at: 0)
    let told = (0..<PeerTable.beats + 1).map { _ in 0 }.map { _ in links.takeUsed() }
    #expect(told == Array(repeating: ["b"], count: PeerTable.beats) + [[]])
    #expect(UInt64(PeerTable.beats) * Self.second > PeerTable.silence)
    _ = links.numberForMessage(to: "b", at: 0, isUse: false)
    let afterBeat = links.takeUsed()
    #expect(afterBeat == [])
  }
}
