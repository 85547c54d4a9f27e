import Testing
import WayRouting
import WayValues

@testable import WaySession

/// Links that wait, and who wants to be told of what, without a session.
struct LinksTests {
  @Test func linksAreFollowedOneAfterAnother() throws {
    var links = PendingLinks(limit: 2)
    try links.add(.init(link: DeepLink("a:1"), rights: .app))
    try links.add(.init(link: DeepLink("a:2"), rights: .app))
    let error = #expect(throws: CallError.self) {
      try links.add(.init(link: DeepLink("a:3"), rights: .app))
    }
    #expect(error?.code == 2429)
    #expect(links.next { $0.uri == "a:2" }?.link.uri == "a:2")
    #expect(links.next { _ in true }?.link == nil)
    links.followed(isRunning: false)
    #expect(links.next { _ in true }?.link.uri == "a:1")
  }

  @Test func tasksOfLinksHoldUpNobodyAndAreBounded() throws {
    var links = PendingLinks(limit: 2)
    for uri in ["a:1", "a:2"] {
      try links.add(.init(link: DeepLink(uri), rights: .app))
      #expect(links.next { _ in true }?.link.uri == uri)
      links.followed(isRunning: true)
    }
    try links.add(.init(link: DeepLink("a:3"), rights: .app))
    #expect(links.next { _ in true }?.link == nil)
    links.taskEnded()
    #expect(links.next { _ in true }?.link.uri == "a:3")
  }

  @Test func whatWasNotFollowedGoesToOthers() throws {
    var links = PendingLinks(limit: 4)
    for uri in ["a:1", "a:2", "a:3"] {
      let link = DeepLink(uri)
      let expected =
        uri == "a:2" ? nil : UnclaimedLinks.Link(link: link, audience: .all, rights: nil)
      try links.add(.init(link: link, rights: .app, expected: expected))
    }
    _ = links.next { _ in true }
    let left = links.removeAll()
    #expect(left.map(\.link.uri) == ["a:1", "a:3"])
    var expected = UnclaimedLinks(limit: 4)
    try expected.add(DeepLink("a:4"), for: .all)
    expected.putBack(left)
    #expect(expected.take { _ in true }.map(\.link.uri) == ["a:1", "a:3", "a:4"])
  }

  @Test func expectedLinksGoToThoseWhoAreMeant() throws {
    var links = UnclaimedLinks(limit: 2)
    try links.add(DeepLink("a:1"), for: .user("anna"))
    try links.add(DeepLink("a:2"), for: .all)
    #expect(throws: CallError.self) { try links.add(DeepLink("a:3"), for: .all) }
    #expect(links.take { $0.audience == .all }.map(\.link.uri) == ["a:2"])
    #expect(throws: CallError.self) { try links.add(DeepLink("no uri"), for: .all) }
    #expect(links.take { _ in true }.map(\.link.uri) == ["a:1"])
  }

  @Test func whatAnybodyWantsIsKnownAtOnce() throws {
    var subscribers = Subscribers(limits: Limits(), heardBySwift: .session)
    #expect(subscribers.kinds == .session)
    let pages = try TopicPattern("page.*", limit: 256)
    #expect(try subscribers.add([pages], for: 1) == [pages])
    #expect(try subscribers.add([pages], for: 1) == [])
    #expect(subscribers.kinds == [.session, .page])
    #expect(
      subscribers.clients.filter { $0.subscriptions.covers("page.opened") }.map(\.id) == [1])
    subscribers.removeAll(of: 1)
    subscribers.swiftHears([])
    #expect(subscribers.kinds == [])
  }
}
