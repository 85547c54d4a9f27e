import Testing

@testable import WaySession

struct PeerIntroductionsTests {
  private var introductions = PeerIntroductions()

  @Test mutating func serverIsAskedOnceAnInterval() {
    let interval = PeerIntroductions.interval
    let asked = [0, 1, interval - 1, interval, interval + 1].map {
      introductions.record("b", at: $0)
    }
    #expect(asked == [true, false, false, true, false])
    let other = introductions.record("c", at: interval + 1)
    #expect(other)
  }

  @Test mutating func countOfServersIsLimited() {
    let count = PeerIntroductions.maxServers
    let asked = (0...count).map { introductions.record("s\($0)", at: 5) }
    #expect(asked.count { $0 } == count && asked.last == false)
    let later = introductions.record("late", at: 5 + PeerIntroductions.interval)
    #expect(later)
  }
}
