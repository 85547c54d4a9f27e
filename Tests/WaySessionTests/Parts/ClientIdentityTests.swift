import Testing

@testable import WaySession

/// When a client is warned before its identity expires, and when it is closed.
struct ClientIdentityTests {
  @Test(
    arguments: [
      // The warning comes a minute before, or after half of a shorter time.
      (600_000, 540_000), (120_000, 60_000), (100_000, 50_000), (1, 0), (0, 0), (-5, 0),
      // Checked again after a day.
      (Int64.max / 2, 86_340_000),
    ] as [(Int64, Int64)])
  func warnsBeforeExpiry(_ remaining: Int64, _ expected: Int64) {
    let time = ClientIdentity.timeUntilWarning(of: 1_000 + remaining, at: 1_000)
    #expect(time.components.seconds * 1_000 == expected / 1_000 * 1_000)
  }

  @Test(
    arguments: [
      (600_000, .wait(.seconds(600), warns: false)),
      (60_001, .wait(.milliseconds(60_001), warns: false)),
      (60_000, .wait(.seconds(60), warns: true)), (1, .wait(.milliseconds(1), warns: true)),
      (0, .close), (-5, .close), (Int64.min / 2, .close),
      (Int64.max / 2, .wait(.seconds(86_400), warns: false)),
    ] as [(Int64, ClientIdentity.ExpiryStep)])
  func closesExpiredIdentity(_ remaining: Int64, _ expected: ClientIdentity.ExpiryStep) {
    #expect(ClientIdentity.step(of: 1_000 + remaining, at: 1_000) == expected)
  }
}
