import Synchronization
import Testing
import WayRPC
import WayTransport

@testable import WaySession

/// The link to a client, without a session.
struct ClientLinkTests {
  private let channel = LinkChannel(id: 1)
  private let handshake = Handshake(subprotocol: Handshake.sessionSubprotocol)

  private func makeLink() -> ClientLink { ClientLink(handshake, channel) }

  private func claim(_ token: String, lastReceived: UInt64 = 0) -> ResumeClaim {
    ResumeClaim(
      client: "c-1", token: PresentedToken(token), epoch: "", lastReceived: lastReceived,
      lastSent: nil, isReloaded: false)
  }

  private func rejection(
    _ link: borrowing ClientLink, _ claim: ResumeClaim, over channel: LinkChannel,
    since began: UInt64
  ) -> ResumeRejection.ResumeRejectionReason? {
    if case .failure(let rejection) = link.resumePoint(claim, over: channel, since: began) {
      return rejection.reason
    }
    return nil
  }

  @Test func onlyLaterConnectionsResume() {
    var link = makeLink()
    link.disconnect(at: 5)
    link.connect(LinkChannel(id: 2), since: 10, handshake)
    let claim = claim(link.credential.currentToken)
    #expect(rejection(link, claim, over: LinkChannel(id: 3), since: 9) == .stale)
    #expect(rejection(link, claim, over: LinkChannel(id: 3), since: 10) == nil)
  }

  @Test func resumeNeedsTokenAndKnownMessages() {
    let link = makeLink()
    let token = link.credential.currentToken
    #expect(rejection(link, claim("wrong"), over: LinkChannel(id: 2), since: 1) == .token)
    #expect(
      rejection(link, claim(token, lastReceived: 1), over: LinkChannel(id: 2), since: 1) == .gap)
    #expect(rejection(link, claim(token), over: LinkChannel(id: 2), since: 1) == nil)
    var unnumbered = ClientLink(handshake, channel)
    unnumbered.stopNumbering()
    let isResumable = unnumbered.isResumable
    #expect(!isResumable)
    #expect(rejection(unnumbered, claim(token), over: LinkChannel(id: 2), since: 1) == .unknown)
  }

  @Test func messagesWaitForStoreInOrder() throws {
    var link = makeLink()
    var writer = MessageWriter()
    try writer.writeNotification("$/progress", [:])
    link.send(writer.bytes, over: channel, after: 3)
    // It depends on no change, but follows a message that does.
    link.send(writer.bytes, over: channel, after: nil)
    #expect(channel.sentCount == 0)
    let sentEarly = link.flush(through: 2)
    #expect(!sentEarly)
    let sentInTime = link.flush(through: 3)
    #expect(sentInTime)
    #expect(channel.sentCount == 2)
    link.send(writer.bytes, over: channel, after: nil)
    #expect(channel.sentCount == 3)
  }

  @Test func clientThatHasSentNothingLeavesSooner() {
    var link = makeLink()
    let silent = link.resumeTimeout(atMost: .seconds(120))
    let shorter = link.resumeTimeout(atMost: .seconds(5))
    #expect(silent == .seconds(10) && shorter == .seconds(5))
    link.confirmNumbering()
    let confirmed = link.resumeTimeout(atMost: .seconds(120))
    #expect(confirmed == .seconds(120))
  }

  @Test func sessionNeverReturnsToEarlierState() {
    var state = SessionState.active
    state.advance(to: .released)
    #expect(state.isHandingOver && state.isEnding && !state.rejectsRequests)
    state.advance(to: .ending)
    #expect(state == .released)
    state.advance(to: .moved)
    #expect(state.hasMoved && !state.isHandingOver && state.rejectsRequests)
  }
}

/// Counts the messages that are sent.
final class LinkChannel: MessageChannel {
  let id: UInt64
  let loop: any EventLoop = MemoryLoop()
  let bufferedBytes = 0
  private let sent = Mutex(0)

  var sentCount: Int { sent.withLock { $0 } }

  init(id: UInt64) { self.id = id }

  func attach(_ receiver: any MessageReceiver) {}
  func pause() {}
  func resume() {}
  func send(_ message: RawSpan, as kind: MessageKind) { sent.withLock { $0 += 1 } }
  func close(_ code: CloseCode, _ reason: String) {}
}
