import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The keys of pushes that one server has carried out, and the collected results, without sessions.
struct PushKeysTests {
  private static let request = IdempotentRequest(method: "cart", target: "", params: ["n": 1])

  private func key(
    _ text: String, owner: String = "push:user/anna", for audience: Audience = .all
  ) -> SessionPushKeys.PushKey {
    SessionPushKeys.PushKey(owner: owner, audience: audience, text: text)
  }

  private func result(_ delivered: Int, bytes: Int = 0) -> SessionPushResult {
    var result = SessionPushResult(receipt: DeliveryReceipt(delivered: delivered))
    if bytes > 0 { result.entries = [.string(String(repeating: "x", count: bytes))] }
    return result
  }

  /// Begins a push with the given result, and returns what a caller gets.
  private func push(
    _ keys: inout SessionPushKeys, _ key: SessionPushKeys.PushKey, _ result: SessionPushResult,
    at now: Int64 = 0
  ) async throws -> SessionPushResult {
    let task = try keys.begin(key, Self.request, at: now) { Task { .success(result) } }
    keys.end(key, await task.value, at: now)
    return try await task.value.get()
  }

  @Test func samePushGetsTheSameResult() async throws {
    var keys = SessionPushKeys()
    let first = try await push(&keys, key("k"), result(1))
    let second = try await push(&keys, key("k"), result(2))
    #expect(first.receipt.delivered == 1 && second.receipt.delivered == 1)
    // Keys belong to a pusher and an audience.
    let others = [
      key("k", owner: "push:user/ben"), key("k", for: .user("anna")), key("K"),
    ]
    for other in others {
      let own = try await push(&keys, other, result(3))
      #expect(own.receipt.delivered == 3)
    }
    let conflict = IdempotentRequest(method: "cart", target: "", params: ["n": 2])
    let error = #expect(throws: CallError.self) {
      try keys.begin(key("k"), conflict, at: 0) { Task { .success(SessionPushResult()) } }
    }
    #expect(error?.code == 2409)
  }

  @Test func resultIsForgottenAfterTenMinutes() async throws {
    var keys = SessionPushKeys()
    _ = try await push(&keys, key("k"), result(1))
    let known = try keys.result(of: key("k"), Self.request, at: 599_999)
    #expect(known?.receipt.delivered == 1)
    let forgotten = try keys.result(of: key("k"), Self.request, at: 600_000)
    #expect(forgotten == nil)
  }

  @Test func failedPushMayBeRepeated() async throws {
    var keys = SessionPushKeys()
    let failure = CallError(.unavailable, "no")
    let task = try keys.begin(key("k"), Self.request, at: 0) { Task { .failure(failure) } }
    keys.end(key("k"), await task.value, at: 0)
    let second = try await push(&keys, key("k"), result(2))
    #expect(second.receipt.delivered == 2)
  }

  @Test func storedResultsAreLimitedInCountAndBytes() async throws {
    var keys = SessionPushKeys()
    for number in 0..<1100 {
      _ = try await push(&keys, key("\(number)"), result(1), at: Int64(number))
    }
    let oldest = try keys.result(of: key("0"), Self.request, at: 1100)
    let latest = try keys.result(of: key("1099"), Self.request, at: 1100)
    #expect(oldest == nil && latest != nil)
    for number in 0..<9 {
      let large = result(1, bytes: 1 << 20)
      _ = try await push(&keys, key("large \(number)"), large, at: Int64(2000 + number))
    }
    let first = try keys.result(of: key("large 0"), Self.request, at: 2100)
    let last = try keys.result(of: key("large 8"), Self.request, at: 2100)
    #expect(first == nil && last != nil)
  }

  @Test func collectsCountsBeyondTheRoomForEntries() throws {
    let collector = PushCollector(maxBytes: 200)
    for number in 0..<10 {
      collector.add(.delivered(.string(String(repeating: "x", count: 50))), session: "s\(number)")
      collector.add(.waiting, session: "t\(number)")
    }
    collector.add(.failed(CallError(.forbidden, "no")), session: "u")
    let result = collector.result
    #expect(result.receipt == DeliveryReceipt(delivered: 10, waiting: 10, failed: 1))
    #expect(result.hasMore)
    #expect(result.entries.count < 10)
    let merged = PushCollector(maxBytes: .max)
    merged.add(try RecordCoder.decode(from: RecordCoder.value(of: result), "result"))
    merged.add(CallError(.outcomeUnknown, "gone"), of: "b")
    #expect(merged.result.receipt == DeliveryReceipt(delivered: 10, waiting: 10, failed: 2))
    #expect(merged.result.firstError?.code == 2403)
    #expect(merged.result.entries.count == result.entries.count + 1)
    #expect(merged.result.hasMore && merged.result.silentServers == ["b"])
  }

  @Test func linkThatIsRejectedEverywhereIsAnError() throws {
    let collector = PushCollector(maxBytes: 0)
    collector.add(.failed(CallError(.forbidden, "no")), session: "s")
    #expect(throws: CallError.self) { try collector.result.linkReceipt }
    collector.add(.waiting, session: "t")
    #expect(try collector.result.linkReceipt == DeliveryReceipt(waiting: 1, failed: 1))
  }
}
