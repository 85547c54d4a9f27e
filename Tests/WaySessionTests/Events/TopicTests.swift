import Testing
import WayNavigation

@testable import WaySession

struct TopicTests {
  @Test(arguments: [
    ("page.opened", ["page.opened"], ["page.opene", "page.opened2", "page", "Page.opened"]),
    ("page.*", ["page.opened", "page."], ["page", "pages.opened"]),
    ("page.o*", ["page.opened", "page.o"], ["page.closed"]),
    ("*", ["a", "page.opened"], []),
    ("cart:7/x_y-z", ["cart:7/x_y-z"], ["cart:7/x_y"]),
  ])
  func patternMatchesTopics(text: String, covered: [String], others: [String]) throws {
    let pattern = try TopicPattern(text, limit: 256)
    for topic in covered { #expect(pattern.matches(topic), "\(topic)") }
    for topic in others { #expect(!pattern.matches(topic), "\(topic)") }
  }

  @Test(arguments: [
    ("", "is empty"), ("a b", "ASCII letters"), ("a*b", "ASCII letters"), ("**", "ASCII letters"),
    ("é", "ASCII letters"), ("a\u{0}", "ASCII letters"), ("123456789", "9 bytes, more than 8"),
    ("12345678*", "9 bytes, more than 8"),
  ])
  func rejectsInvalidPatternWithReason(text: String, reason: String) {
    let fault = #expect(throws: TopicError.self) { try TopicPattern(text, limit: 8) }
    #expect(fault?.reason.contains(reason) == true)
  }

  @Test(arguments: [("a.b", true), ("*", false), ("a.*", false), ("", false), ("a\n", false)])
  func rejectsWildcardInTopic(text: String, isTopic: Bool) {
    #expect((SessionTopic.violation(in: text, limit: 8) == nil) == isTopic)
  }

  @Test(
    arguments: [
      ("*", [.session, .page, .task, .route, .visibility]), ("p*", [.page, .visibility]),
      ("page.*", [.page, .visibility]), ("page.visibility", [.page, .visibility]),
      ("page.clo*", .page),
      ("page.closed", .page), ("page*", [.page, .visibility]), ("page", []), ("pages.*", []),
      ("cart.*", []),
      ("t*", .task), ("route.failed", .route), ("session.*", .session),
    ] as [(String, SessionEvent.EventKinds)])
  func patternSelectsEventKinds(
    text: String, families: SessionEvent.EventKinds
  ) throws {
    #expect(try TopicPattern(text, limit: 256).kinds == families)
  }

  @Test func reservesEverySystemTopic() throws {
    for topic in SystemTopic.allCases {
      #expect(SystemTopic.isReserved(topic.rawValue))
      let kinds = try TopicPattern(topic.rawValue, limit: 256).kinds
      // A topic that sessions do not emit has no session event kind.
      let isOfAll = topic == .serverDraining || topic == .tableChanged
      // The visibility of a page also belongs to the family of its name.
      let count = isOfAll ? 0 : topic == .pageVisibility ? 2 : 1
      #expect(kinds.rawValue.nonzeroBitCount == count)
    }
    #expect(!SystemTopic.isReserved("pages.opened"))
  }
}
