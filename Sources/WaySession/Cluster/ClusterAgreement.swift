import WayValues

/// What the servers of a cluster agree on. They must admit clients in the same way
/// (``ClusterAnnouncement``): the settings of the server that has joined first count. They may differ
/// during a rolling update in the policy, and in the keys of tokens. Pure: ``ClusterNode`` acts.
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

  /// Returns the conflict of this server with the one that has joined first; nil if there is none.
  /// Servers are compared with that one only, so that a server with other settings stops none of those
  /// that agree. `joined` is the place of this server in the order of all, and 0 if it is not known. A
  /// server that has not renewed its lease since then does not count: it was cut off, and is compared
  /// itself when it returns.
  static func conflict(
    of own: ClusterAnnouncement, joined: UInt64,
    with others: [(server: String, presence: ValueObject)]
  ) -> ClusterConflict? {
    guard joined > 0 else { return nil }
    var first: (server: String, announcement: ClusterAnnouncement)?
    var firstPlace = joined
    for (server, presence) in others {
      guard let place = presence["joined"]?.integer.flatMap({ UInt64(exactly: $0) }), place > 0,
        let renewal = presence["renewal"]?.integer.flatMap({ UInt64(exactly: $0) }),
        renewal > joined, place < firstPlace, let announcement = ClusterAnnouncement(presence)
      else { continue }
      (first, firstPlace) = ((server, announcement), place)
    }
    return first.flatMap { own.conflict(with: $0.announcement, of: $0.server) }
  }

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
