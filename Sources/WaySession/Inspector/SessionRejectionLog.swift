import WayTransport
import WayValues

/// Recently rejected requests, connections and tokens, with the reasons. May be used on any thread;
/// the oldest are removed first.
package final class SessionRejectionLog: Sendable {
  /// How many rejections are kept.
  private static let maxCount = 128
  /// The maximum size of a reason, in bytes.
  private static let maxReasonBytes = 512

  private struct LoggedRejection {
    let at: Int64
    let stage: RejectionStage
    let code: Int
    let reason: String
    let address: String?
    let remedy: String?
  }

  /// The stage at which a client was rejected.
  package enum RejectionStage: String, Sendable {
    /// An HTTP request, including a WebSocket handshake: `code` is the status of the response.
    case request
    /// A connection that broke the protocol: `code` is that of its close frame.
    case connection
    /// The token of a `session.open`, a `session.resume` or a `session.renew`: `code` is the
    /// error's.
    case token
  }

  private let state = Locked((rejections: [LoggedRejection](), count: 0))
  private let now: @Sendable () -> Int64

  init(now: @escaping @Sendable () -> Int64) {
    self.now = now
  }

  /// Adds a rejection. `remedy` says how the client could be accepted; nil if it could not.
  package func add(
    _ stage: RejectionStage, _ code: Int, _ reason: String, address: String? = nil,
    remedy: String? = nil
  ) {
    let rejection = LoggedRejection(
      at: now(), stage: stage, code: code, reason: Self.truncated(reason), address: address,
      remedy: remedy.map(Self.truncated))
    state.withLock { state in
      state.count += 1
      state.rejections.append(rejection)
      if state.rejections.count > Self.maxCount { state.rejections.removeFirst() }
    }
  }

  private static func truncated(_ text: String) -> String {
    guard text.utf8.count > maxReasonBytes else { return text }
    return String(decoding: text.utf8.prefix(maxReasonBytes), as: UTF8.self) + "…"
  }

  /// The log as `admin.refusals` reports it, the latest first.
  var value: Value {
    let (rejections, count) = state.withLock { $0 }
    return [
      "count": .integer(Int64(count)),
      "refusals": .array(
        rejections.reversed().map { rejection in
          var members: ValueObject = [
            "at": .integer(rejection.at), "door": .string(rejection.stage.rawValue),
            "code": .integer(Int64(rejection.code)), "reason": .string(rejection.reason),
          ]
          members["address"] = rejection.address.map(Value.string)
          members["remedy"] = rejection.remedy.map(Value.string)
          return .object(members)
        }),
    ]
  }
}
