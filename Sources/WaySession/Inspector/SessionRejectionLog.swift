import WayTransport
import WayValues

/// Who was not let in of late, and why. From any thread; the oldest is forgotten first.
package final class SessionRejectionLog: Sendable {
  /// How many are kept.
  private static let maxCount = 128
  /// Bytes of a reason.
  private static let maxReason = 512

  private struct Refusal {
    let at: Int64
    let door: Door
    let code: Int
    let reason: String
    let address: String?
    let remedy: String?
  }

  /// Where somebody was refused.
  package enum Door: String, Sendable {
    /// An HTTP request, that of a WebSocket among them: `code` is the answer's status.
    case request
    /// A connection, for what it did or did not say: `code` is that of its close frame.
    case connection
    /// The token of a `session.open`, a `session.resume` or a `session.renew`: `code` is the error's.
    case token
  }

  private let state = Locked((refusals: [Refusal](), count: 0))
  private let now: @Sendable () -> Int64

  init(now: @escaping @Sendable () -> Int64) {
    self.now = now
  }

  /// `remedy` says what would let in whoever it was; nil where nothing would.
  package func add(
    _ door: Door, _ code: Int, _ reason: String, address: String? = nil, remedy: String? = nil
  ) {
    let refusal = Refusal(
      at: now(), door: door, code: code, reason: Self.short(reason), address: address,
      remedy: remedy.map(Self.short))
    state.withLock { state in
      state.count += 1
      state.refusals.append(refusal)
      if state.refusals.count > Self.maxCount { state.refusals.removeFirst() }
    }
  }

  private static func short(_ text: String) -> String {
    guard text.utf8.count > maxReason else { return text }
    return String(decoding: text.utf8.prefix(maxReason), as: UTF8.self) + "…"
  }

  /// As `admin.refusals` tells them, the latest first.
  var value: Value {
    let (refusals, count) = state.withLock { $0 }
    return [
      "count": .integer(Int64(count)),
      "refusals": .list(
        refusals.reversed().map { refusal in
          var members: ValueObject = [
            "at": .integer(refusal.at), "door": .string(refusal.door.rawValue),
            "code": .integer(Int64(refusal.code)), "reason": .string(refusal.reason),
          ]
          members["address"] = refusal.address.map(Value.string)
          members["remedy"] = refusal.remedy.map(Value.string)
          return .object(members)
        }),
    ]
  }
}
