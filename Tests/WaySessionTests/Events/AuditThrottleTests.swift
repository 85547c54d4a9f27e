import Testing
import WayTransport
import WayValues

@testable import WaySession

/// Which clients the audit trail counts together.
struct AuditThrottleTests {
  private let records = Locked<[AuditRecord]>([])
  private let trail: AuditTrail

  init() {
    let records = records
    trail = AuditTrail(now: { 0 }, { record in records.withLock { $0.append(record) } })
  }

  /// Records refusals, and returns how many of them have a record.
  private func refuse(
    _ count: Int, _ client: EventClient, _ method: String = "x", rule: String = "default"
  ) -> Int {
    let before = records.withLock { $0.count }
    for _ in 0..<count {
      trail.recordThrottled(
        AuditRecord(refusing: method, with: .forbidden(rule, "no"), by: client))
    }
    return records.withLock { $0.count } - before
  }

  /// The suppressed records, in order of their clients.
  private func finish() -> [String] {
    let before = records.withLock { $0.count }
    trail.finish()
    return records.withLock { $0.dropFirst(before) }.map { record in
      guard case .suppressed(let count, let rule) = record.result else { return "\(record)" }
      let client = record.client
      return [
        client?.user, client?.address, client?.isGuest == true ? "guest" : nil, record.method, rule,
        "\(count)",
      ].compactMap(\.self).joined(separator: " ")
    }.sorted()
  }

  @Test func strangersDoNotHideRefusalsOfUsers() {
    for number in 0..<2_000 {
      _ = refuse(1, EventClient(address: "10.0.\(number / 250).\(number % 250)"))
    }
    #expect(refuse(1, EventClient(address: "10.9.9.9")) == 0)
    #expect(refuse(1, EventClient(user: "ada", address: "10.9.9.9")) == 1)
  }

  @Test func strangersOfOneNetworkCountAsOne() {
    let recorded = (0..<15).reduce(0) { count, number in
      count + refuse(1, EventClient(address: "2001:db8::\(number)"))
    }
    #expect(recorded == 10)
    #expect(refuse(1, EventClient(address: "2001:db8:0:1::1")) == 1)
    for number in 0..<15 { _ = refuse(1, EventClient(address: "192.0.2.\(number)")) }
    #expect(refuse(12, EventClient(address: "unix")) == 10)
    #expect(finish() == ["2001:db8::/64 x default 5", "unix x default 2"])
  }

  @Test func aUserDoesNotHideOthersWithManyNetworksOrMethods() {
    for number in 0..<2_000 {
      let address = "2001:db8:0:\(String(number, radix: 16))::1"
      _ = refuse(1, EventClient(user: "ada", address: address), "method \(number)")
    }
    #expect(refuse(1, EventClient(user: "ada", address: "10.0.0.1")) == 0)
    #expect(refuse(1, EventClient(user: "bob", address: "10.0.0.1")) == 1)
    #expect(finish() == ["ada 1959"])
  }

  @Test func aGuestDoesNotHideRefusalsOfItsInviter() {
    let guest = EventClient(user: "ada", address: "10.0.0.1", isGuest: true)
    #expect(refuse(12, guest) == 10)
    #expect(refuse(12, EventClient(user: "ada", address: "10.0.0.1")) == 10)
    #expect(finish() == ["ada 10.0.0.1 guest x default 2", "ada 10.0.0.1 x default 2"])
  }

  @Test func methodsAndRulesAreCountedApart() {
    let client = EventClient(user: "ada", address: "10.0.0.1")
    #expect(refuse(12, client) == 10)
    #expect(refuse(12, client, "y") == 10)
    #expect(refuse(12, client, rule: "z") == 10)
    #expect(
      finish() == ["ada 10.0.0.1 x default 2", "ada 10.0.0.1 x z 2", "ada 10.0.0.1 y default 2"])
    #expect(finish() == [])
  }

  @Test func usersAreComparedByTheirBytes() {
    #expect(refuse(12, EventClient(user: "caf\u{e9}")) == 10)
    #expect(refuse(12, EventClient(user: "cafe\u{301}")) == 10)
  }

  @Test func targetIsOnlyMadeForARecord() {
    let targets = Locked(0)
    func target() -> String {
      targets.withLock { $0 += 1 }
      return "native://a?token=hidden"
    }
    for _ in 0..<15 {
      trail.recordThrottled(
        AuditRecord(refusing: "x", with: .forbidden("default", "no"), by: EventClient(user: "ada")),
        about: target())
    }
    #expect(targets.withLock { $0 } == 10)
    #expect(records.withLock { $0.map(\.target) } == Array(repeating: "native://a", count: 10))
  }
}
