import WayValues

/// Decides which of the audit records that clients can cause at any rate are written, and counts the
/// others. The groups of records have limits of their own, so that none hides the records of another
/// one: refusals of strangers hide no refusals of users, and refusals hide no actions.
struct AuditThrottle: Sendable {
  /// A group of records with limits of its own.
  enum RecordGroup: Int, CaseIterable {
    /// Refusals of clients that are not authenticated, which can have many addresses.
    case strangers
    /// Refusals of users.
    case refusals
    /// Actions that every client may perform, and changes by administrators that have failed before
    /// the method's handler received them.
    case actions
    /// Requests of administrators that change nothing.
    case reads

    fileprivate var limits: ThrottleLimits {
      ThrottleLimits(maxKeys: self == .refusals ? 1024 : 256)
    }
  }

  /// The decision about one record.
  struct RecordDecision {
    /// Whether the record is written.
    let isRecorded: Bool
    /// The records of the numbers of earlier records that were left out.
    let suppressed: [AuditRecord]
  }

  /// What records have in common that are counted together.
  private struct ThrottledAction: Hashable {
    /// The length of a name that is compared, in UTF-8 bytes.
    private static let maxLength = 64

    let action: String
    let method: UTF8Key?
    let rule: UTF8Key?
    /// The network of a user's client.
    let network: String?

    init(_ record: AuditRecord, of client: AuditedClient) {
      action = record.action
      let rule: String? = if case .refused(_, let rule, _) = record.result { rule } else { nil }
      method = record.method.map { UTF8Key($0.bounded(to: Self.maxLength)) }
      self.rule = rule.map { UTF8Key($0.bounded(to: Self.maxLength)) }
      network = client.network(of: record.client)
    }

    /// An action of any method, rule and network.
    private init(action: String) {
      self.action = action
      (method, rule, network) = (nil, nil, nil)
    }

    static func summary(of action: ThrottledAction) -> ThrottledAction {
      ThrottledAction(action: action.action)
    }
  }

  private typealias ActionThrottle = EventThrottle<AuditedClient, ThrottledAction>

  /// By the raw values of the groups.
  private var throttles = RecordGroup.allCases.map { group in
    ActionThrottle(group.limits, summarize: ThrottledAction.summary)
  }

  /// Decides about a record at a time in milliseconds.
  mutating func decide(
    _ record: AuditRecord, isRead: Bool = false, at now: Int64
  ) -> RecordDecision {
    let client = AuditedClient(record.client)
    let group: RecordGroup =
      if isRead { .reads } else if record.action != AuditRecord.refusal { .actions } else {
        client.user == nil ? .strangers : .refusals
      }
    let decision = throttles[group.rawValue].decide(
      client, ThrottledAction(record, of: client), at: now)
    return RecordDecision(
      isRecorded: decision.passes, suppressed: decision.suppressedCounts.map(Self.record))
  }

  /// Returns the numbers of records that were left out in the seconds that have ended.
  mutating func removeEnded(at now: Int64) -> [AuditRecord] {
    throttles.indices.flatMap { throttles[$0].removeEnded(at: now) }.map(Self.record)
  }

  /// Returns the numbers of all records that were left out.
  mutating func removeAll() -> [AuditRecord] {
    throttles.indices.flatMap { throttles[$0].removeAll() }.map(Self.record)
  }

  /// The time at which the next number can be recorded; `nil` if there is none.
  var nextReport: Int64? { throttles.compactMap(\.nextReport).min() }

  private static func record(_ suppressed: ActionThrottle.SuppressedCount) -> AuditRecord {
    let kind = suppressed.kind
    return AuditRecord(
      client: suppressed.key?.eventClient(network: kind?.network),
      action: kind?.action ?? AuditRecord.refusal, method: kind?.method?.text,
      result: .suppressed(count: suppressed.count, rule: kind?.rule?.text))
  }
}
