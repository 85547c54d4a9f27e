import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Which deep links of a session wait, and how long each one blocks the others.
struct DeepLinkQueueTests {
  /// Returns links with these URIs that wait, at most `limit`.
  private func pending(_ uris: [String], limit: Int = 4) throws -> DeepLinkQueue {
    var links = DeepLinkQueue(limit: limit)
    for uri in uris { try links.add(.init(deepLink: DeepLink(uri), rights: .app)) }
    return links
  }

  @Test func opensDeepLinksOneAtATime() throws {
    var links = try pending(["a:1", "a:2"], limit: 2)
    let error = #expect(throws: CallError.self) {
      try links.add(.init(deepLink: DeepLink("a:3"), rights: .app))
    }
    #expect(error?.code == 2429)
    let waiting = links.waiting
    #expect(waiting.map(\.deepLink.uri) == ["a:1", "a:2"])
    links.begin(waiting[1].number)
    #expect(!links.canBegin)
    #expect(links.blockingNumber == waiting[1].number)
    #expect(links.count == 2)
    // The link that is being opened does not count.
    try links.add(.init(deepLink: DeepLink("a:3"), rights: .app))
    let isRecordChanged = links.finish(waiting[1].number)
    #expect(isRecordChanged && links.canBegin)
    #expect(links.waiting.map(\.deepLink.uri) == ["a:1", "a:3"])
  }

  @Test func limitsConcurrentDeepLinkTasks() throws {
    var links = try pending(["a:1", "a:2", "a:3"], limit: 3)
    let numbers = links.waiting.map(\.number)
    for number in numbers {
      #expect(links.canBegin)
      links.begin(number)
      links.start(number)
    }
    #expect(!links.canBegin)
    #expect(links.storedLinks.isEmpty)
    let isRecordChanged = links.finish(numbers[0])
    #expect(!isRecordChanged && links.canBegin)
  }

  @Test func restoresLinksBeyondTheLimit() throws {
    var links = DeepLinkQueue(limit: 1)
    for uri in ["a:1", "a:2"] { links.restore(.init(deepLink: DeepLink(uri), rights: .app)) }
    #expect(links.count == 2)
  }

  @Test func restoresUnopenedLinks() throws {
    var links = DeepLinkQueue(limit: 4)
    for uri in ["a:1", "a:2", "a:3"] {
      let link = DeepLink(uri)
      let expected =
        uri == "a:2" ? nil : UnclaimedLinks.UnclaimedLink(link, for: .all)
      links.restore(.init(deepLink: link, rights: .app, unclaimedLink: expected))
    }
    links.begin(links.waiting[0].number)
    let left = links.removeAll()
    #expect(left.map(\.deepLink.uri) == ["a:1", "a:3"])
    var expected = UnclaimedLinks(limit: 4, within: ByteBudget(.server, 1 << 30))
    try expected.add(DeepLink("a:4"), for: .all, at: 0)
    expected.restore(left)
    let claimed = expected.claim(at: 0) { _ in true }
    #expect(claimed.map(\.deepLink.uri) == ["a:1", "a:3", "a:4"])
  }

  @Test(arguments: [false, true])
  func lastUnfollowedCopyWaitsForAnotherSession(isFollowed: Bool) throws {
    let copies = DeepLinkCopies()
    var sessions = try (1...2).map { _ in
      var links = DeepLinkQueue(limit: 4)
      let link = DeepLink("a:1")
      copies.add()
      try links.add(
        .init(
          deepLink: link, rights: .app,
          unclaimedLink: UnclaimedLinks.UnclaimedLink(link, for: .user("anna")), copies: copies))
      return links
    }
    if isFollowed {
      let number = sessions[0].waiting[0].number
      sessions[0].begin(number)
      _ = sessions[0].finish(number)
    }
    let first = sessions[0].removeAll()
    let second = sessions[1].removeAll()
    #expect(first.isEmpty)
    #expect(second.count == (isFollowed ? 0 : 1))
  }

  @Test func linkWaitsAgainAtItsPlaceAFewTimes() throws {
    var links = try pending(["a:1", "a:2"])
    let first = links.waiting[0].number
    for attempt in 1...DeepLinkQueue.maxAttempts {
      links.begin(first)
      #expect(!links.canBegin)
      let isQueued = links.requeue(first)
      #expect(isQueued == (attempt < DeepLinkQueue.maxAttempts))
      #expect(links.waiting.map(\.deepLink.uri) == (isQueued ? ["a:1", "a:2"] : ["a:2"]))
      #expect(links.canBegin == isQueued)
    }
    links.unblock()
    #expect(links.canBegin)
    #expect(links.storedLinks.map(\.deepLink.uri) == ["a:1", "a:2"])
  }

  /// A caller with a client of this name, whose rights have to be found out.
  private func sender(_ name: String) -> Caller {
    Caller(session: "s", client: .init(id: name, name: nil, version: nil, page: nil))
  }

  @Test func holdsAndRemovesLinksBySender() throws {
    var links = DeepLinkQueue(limit: 4)
    for (uri, name) in [("a:1", "c-1"), ("a:2", "c-2"), ("a:3", "c-1")] {
      let rights = Rights(following: CurrentCaller(sender(name), validAt: 0), nil)
      try links.add(.init(deepLink: DeepLink(uri), rights: rights))
    }
    let now: Int64 = 1 << 40
    links.hold(linksOf: sender("c-1"), at: now)
    #expect(links.waiting.map(\.deepLink.uri) == ["a:2"])
    #expect(links.count == 3)
    #expect(links.release(linksOf: sender("c-2")).isEmpty)
    #expect(links.release(linksOf: sender("c-1")).count == 2)
    #expect(links.waiting.map(\.deepLink.uri) == ["a:1", "a:2", "a:3"])
    // A link that is being opened stays until its call ends, but is not stored.
    links.begin(links.waiting[0].number)
    #expect(links.revoke(["c-1"]).map(\.deepLink.uri) == ["a:3"])
    #expect(links.count == 2)
    #expect(links.storedLinks.map(\.deepLink.uri) == ["a:2"])
  }
}
