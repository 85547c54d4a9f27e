import Testing

@testable import WaySession

struct RetainedEventsTests {
  private func retainedTexts(_ events: RetainedEvents) -> [String] {
    events.events { _, _ in true }.sorted { $0.number < $1.number }
      .map { String(decoding: $0.message, as: UTF8.self) }
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func retainsLastEventsOfTopicInOrder() {
    var events = RetainedEvents()
    for text in ["a1", "b1", "a2", "b2", "a3"] {
      events.retain(bytes(text), of: String(text.prefix(1)), for: .all, last: 2)
    }
    #expect(retainedTexts(events) == ["b1", "a2", "b2", "a3"])
    events.retain(bytes("a4"), of: "a", for: .all, last: 1)
    #expect(retainedTexts(events) == ["b1", "b2", "a4"])
  }

  @Test func separatesAudiencesOfOneTopic() {
    var events = RetainedEvents()
    events.retain(bytes("anna"), of: "t", for: .user("anna"), last: 1)
    events.retain(bytes("ben"), of: "t", for: .user("ben"), last: 1)
    #expect(retainedTexts(events) == ["anna", "ben"])
    events.forget("t", for: .user("anna"))
    #expect(retainedTexts(events) == ["ben"])
    #expect(events.events { $1 == .user("anna") }.isEmpty)
  }

  @Test func dropsOldestEventsBeyondLimits() {
    var topics = RetainedEvents(maxTopics: 2, maxBytes: 100)
    for topic in ["a", "b", "c"] {
      topics.retain(bytes(topic), of: topic, for: .all, last: 5)
    }
    #expect(retainedTexts(topics) == ["b", "c"])
    var size = RetainedEvents(maxTopics: 9, maxBytes: 10)
    for text in ["1234", "5678", "90ab"] { size.retain(bytes(text), of: "t", for: .all, last: 5) }
    #expect(retainedTexts(size) == ["5678", "90ab"])
    size.retain(bytes("more than ten bytes"), of: "t", for: .all, last: 5)
    #expect(retainedTexts(size).isEmpty)
    size.retain(bytes("1234567890"), of: "t", for: .all, last: 5)
    #expect(retainedTexts(size) == ["1234567890"])
  }

  @Test func removesEventsOfEndedSession() {
    var events = RetainedEvents()
    events.retain(bytes("session"), of: "t", for: .session("s"), last: 1)
    events.retain(bytes("client"), of: "t", for: .client("c", session: "s"), last: 1)
    events.retain(bytes("other"), of: "t", for: .session("o"), last: 1)
    events.retain(bytes("all"), of: "t", for: .all, last: 1)
    events.forget(session: "s")
    #expect(retainedTexts(events) == ["other", "all"])
  }
}
