import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Which connections may resume a client, and which are rejected before anything has changed.
struct ResumeAttemptTests {
  /// What differs from an attempt that succeeds.
  enum Difference: Sendable {
    case none, epoch, token, origin, user, noIdentity, expired, expiredWithIdentity,
      earlierConnection
  }

  private static func handshake(origin: String) throws -> Handshake {
    var handshake = Handshake(subprotocol: Handshake.sessionSubprotocol)
    handshake.origin = origin
    return handshake
  }

  @Test(
    arguments: [
      (Difference.none, "after 0"), (.epoch, "epoch"), (.token, "token"), (.origin, "2403"),
      (.user, "user"), (.noIdentity, "after 0"), (.expired, "2401"),
      (.expiredWithIdentity, "after 0"), (.earlierConnection, "stale"),
    ])
  func connectionMayResume(_ difference: Difference, _ expected: String) throws {
    let client = Client(
      id: 1, handshake: try Self.handshake(origin: "https://a.example"),
      channel: LinkChannel(id: 1), limits: Limits(), within: ByteBudget(.server, 1 << 20))
    let isExpired = difference == .expired || difference == .expiredWithIdentity
    client.rights = Rights(
      Caller(
        session: "s-1", identity: Identity(user: "ann", expires: isExpired ? 5 : nil),
        client: .init(id: client.name, name: nil, version: nil, page: nil), isGuest: false,
        origin: nil, address: nil, logger: nil), nil)
    client.link.disconnect(at: 5)
    client.link.connect(LinkChannel(id: 2), since: 10, client.link.handshake)
    let identity: Identity? =
      switch difference {
      case .noIdentity, .expired: nil
      case .user: Identity(user: "bob")
      default: Identity(user: "ann")
      }
    let token = difference == .token ? "wrong" : client.link.credential.currentToken
    let attempt = ResumeAttempt(
      claim: ResumeClaim(
        client: client.name, token: PresentedToken(token),
        epoch: difference == .epoch ? "e-2" : "e-1", lastReceived: 0, lastSent: nil,
        isReloaded: false),
      identity: identity,
      handshake: try Self.handshake(
        origin: difference == .origin ? "https://b.example" : "https://a.example"),
      channel: LinkChannel(id: 3),
      openTime: difference == .earlierConnection ? 9...11 : 11...12)
    let result: String
    do throws(CallError) {
      switch try attempt.resumePoint(of: client, epoch: "e-1", at: 6) {
      case .success(let number): result = "after \(number)"
      case .failure(let rejection): result = rejection.reason.rawValue
      }
    } catch {
      result = "\(error.code)"
    }
    #expect(result == expected)
  }
}
