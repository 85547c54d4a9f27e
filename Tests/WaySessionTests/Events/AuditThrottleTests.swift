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
    #expect(finish() == ["ada 1971"])
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

  /// One client has many kinds of requests.
  @Test func recordsOfAClientAreLimitedAndTheOthersCounted() {
    let recorded = (0..<330).reduce(0) { count, number in
      count + refuse(1, EventClient(user: "ada", address: "10.0.0.1"), "method \(number % 33)")
    }
    #expect(recorded == 30)
    #expect(refuse(1, EventClient(user: "bob", address: "10.0.0.1")) == 1)
    #expect(finish() == ["ada 300"])
  }

  @Test func recordsOfAllClientsAreLimitedAndEachHasOne() {
    let recorded = (0..<20).map { number in
      (0..<40).reduce(0) { count, method in
        count + refuse(1, EventClient(user: "user \(number)"), "method \(method)")
      }
    }
    #expect(recorded == Array(repeating: 30, count: 10) + Array(repeating: 1, count: 10))
    #expect(refuse(1, EventClient(address: "10.0.0.1")) == 1)
    #expect(finish().count == 20)
  }

  @Test func refusalsHideNoActionsAndReads() {
    let client = EventClient(user: "ada", address: "10.0.0.1")
    for number in 0..<400 { _ = refuse(1, client, "method \(number)") }
    let before = records.withLock { $0.count }
    for number in 0..<40 {
      trail.recordThrottled(AuditRecord(client: client, action: "session.invite"))
      trail.recordRead(AuditRecord(client: client, action: "admin.session", target: "\(number)"))
      trail.record(AuditRecord(client: client, action: "session.end"))
    }
    let actions = records.withLock { $0.dropFirst(before).map(\.action) }
    #expect(actions.count { $0 == "session.invite" } == 10)
    #expect(actions.count { $0 == "admin.session" } == 10)
    #expect(actions.count { $0 == "session.end" } == 40)
    #expect(finish() == ["ada 10.0.0.1 30", "ada 10.0.0.1 30", "ada 370"])
  }

  /// The group and the key of each record.
  @Test(
    arguments: [
      (AuditRecord.refusal, nil, false, 256), (AuditRecord.refusal, "user", false, 1024),
      ("session.invite", "user", false, 256), ("admin.session", "user", true, 256),
    ] as [(String, String?, Bool, Int)])
  func recordsBeyondTheMaximumOfClientsCountAsOne(
    _ action: String, _ user: String?, _ isRead: Bool, _ maxClients: Int
  ) {
    var throttle = AuditThrottle()
    func decide(_ number: Int) -> Bool {
      let client = EventClient(
        user: user.map { "\($0) \(number)" }, address: "10.0.\(number / 256).\(number % 256)")
      return throttle.decide(
        AuditRecord(client: client, action: action), isRead: isRead, at: 0
      ).isRecorded
    }
    for number in 0..<maxClients { #expect(decide(number)) }
    let recorded = (maxClients..<maxClients + 100).filter(decide)
    #expect(recorded.count == (maxClients < 300 ? 10 : 1))
    #expect(throttle.nextReport == 1_000)
    let suppressed = throttle.removeEnded(at: 1_000)
    #expect(suppressed.map(\.action) == [action])
    #expect(suppressed.map(\.client) == [nil])
    #expect(throttle.removeAll().isEmpty)
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
