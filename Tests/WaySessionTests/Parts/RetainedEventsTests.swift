import Testing

@testable import WaySession

struct RetainedEventsTests {
  private func kept(_ events: RetainedEvents) -> [String] {
    events.messages { _, _ in true }.map { String(decoding: $0, as: UTF8.self) }
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func theLastOfATopicAreKeptInOrder() {
    var events = RetainedEvents()
    for text in ["a1", "b1", "a2", "b2", "a3"] {
      events.keep(bytes(text), of: String(text.prefix(1)), for: .all, last: 2)
    }
    #expect(kept(events) == ["b1", "a2", "b2", "a3"])
    events.keep(bytes("a4"), of: "a", for: .all, last: 1)
    #expect(kept(events) == ["b1", "b2", "a4"])
  }

  @Test func audiencesOfOneTopicAreApart() {
    var events = RetainedEvents()
    events.keep(bytes("anna"), of: "t", for: .user("anna"), last: 1)
    events.keep(bytes("ben"), of: "t", for: .user("ben"), last: 1)
    #expect(kept(events) == ["anna", "ben"])
    events.forget("t", for: .user("anna"))
    #expect(kept(events) == ["ben"])
    #expect(events.messages { $1 == .user("anna") }.isEmpty)
  }

  @Test func beyondItsBoundsTheOldestGo() {
    var topics = RetainedEvents(maxTopics: 2, maxBytes: 100)
    for topic in ["a", "b", "c"] {
      topics.keep(bytes(topic), of: topic, for: .all, last: 5)
    }
    #expect(kept(topics) == ["b", "c"])
    var size = RetainedEvents(maxTopics: 9, maxBytes: 10)
    for text in ["1234", "5678", "90ab"] { size.keep(bytes(text), of: "t", for: .all, last: 5) }
    #expect(kept(size) == ["5678", "90ab"])
    size.keep(bytes("more than ten bytes"), of: "t", for: .all, last: 5)
    #expect(kept(size).isEmpty)
    size.keep(bytes("1234567890"), of: "t", for: .all, last: 5)
    #expect(kept(size) == ["1234567890"])
  }

  @Test func whatIsForASessionGoesWithIt() {
    var events = RetainedEvents()
    events.keep(bytes("session"), of: "t", for: .session("s"), last: 1)
    events.keep(bytes("client"), of: "t", for: .client("c", session: "s"), last: 1)
    events.keep(bytes("other"), of: "t", for: .session("o"), last: 1)
    events.keep(bytes("all"), of: "t", for: .all, last: 1)
    events.forget(session: "s")
    #expect(kept(events) == ["other", "all"])
  }
}
