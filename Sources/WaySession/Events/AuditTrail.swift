import WayTransport
import WayValues

/// Passes the audit records of a server to its sink. Administrative actions always have a record;
/// the refusals and the invitations of a client have at most ten in a second. Usable from any thread.
package final class AuditTrail: Sendable {
  /// The clients whose refusals are counted together, so that a client cannot avoid the limit with
  /// new connections.
  private struct RefusedClient: Hashable {
    /// The length of a user or an address that is compared, in UTF-8 bytes.
    static let maxLength = 256

    let user: String?
    let address: String?

    init(_ client: EventClient?) {
      user = client?.user.map(Self.shortened)
      address = client?.address
    }

    private static func shortened(_ text: String) -> String {
      text.utf8.count <= maxLength
        ? text : String(decoding: text.utf8.prefix(maxLength), as: UTF8.self)
    }
  }

  private let sink: @Sendable (AuditRecord) -> Void
  private let now: @Sendable () -> Int64
  private let throttle = Locked(EventThrottle<RefusedClient>())

  /// Creates a trail. `now` is the time in milliseconds.
  package init(
    now: @escaping @Sendable () -> Int64, _ sink: @escaping @Sendable (AuditRecord) -> Void
  ) {
    self.now = now
    self.sink = sink
  }

  /// Records an action.
  package func record(_ record: AuditRecord) { sink(record) }

  /// Records a refusal, or an action that every client may perform, unless the client has too many
  /// such records in this second.
  package func recordThrottled(_ record: AuditRecord) {
    let decision = throttle.withLock { $0.decide(RefusedClient(record.client), at: now()) }
    for (client, count) in decision.suppressedCounts {
      sink(
        AuditRecord(
          client: client.map { EventClient(user: $0.user, address: $0.address) },
          action: AuditRecord.refusal, result: .suppressed(count: count)))
    }
    if decision.passes { sink(record) }
  }
}
