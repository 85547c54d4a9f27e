import WayValues

/// How servers of a cluster differ that may differ for a while: during a rolling update in the policy,
/// and in the keys of tokens. The engine compares what must be equal (``ClusterAnnouncement``). Pure:
/// ``ClusterNode`` acts.
struct ClusterAgreement {
  /// A member of the presence, which contains a hash.
  enum AgreementSubject: String, CaseIterable, Sendable {
    case policy, keys
  }

  /// A server that differs from this one for longer than a rolling update may take.
  struct OverdueDifference: Hashable {
    let server: String
    let subject: AgreementSubject
  }

  /// How long servers may differ, in nanoseconds.
  static let gracePeriod: UInt64 = 600_000_000_000

  private struct ObservedDifference {
    let since: UInt64
    var isReported = false
  }

  private var differences: [OverdueDifference: ObservedDifference] = [:]

  /// Compares the presence of this server with that of the others. Returns the differences that have
  /// become overdue.
  mutating func update(
    _ own: ValueObject, _ others: [(server: String, presence: ValueObject)], at now: UInt64
  ) -> [OverdueDifference] {
    var current: [OverdueDifference: ObservedDifference] = [:]
    var overdue: [OverdueDifference] = []
    for (server, presence) in others {
      for subject in AgreementSubject.allCases {
        guard own[subject.rawValue] != presence[subject.rawValue] else { continue }
        let difference = OverdueDifference(server: server, subject: subject)
        var observed = differences[difference] ?? ObservedDifference(since: now)
        if !observed.isReported, now - observed.since > Self.gracePeriod {
          observed.isReported = true
          overdue.append(difference)
        }
        current[difference] = observed
      }
    }
    differences = current
    return overdue
  }

  /// How many other servers differ now.
  func count(of subject: AgreementSubject) -> Int {
    differences.keys.count { $0.subject == subject }
  }
}
