import WayTransport
import WayValues

/// The invitations of one session that can still be used. Belongs to the isolation of its
/// ``Session``.
struct Invitations {
  /// The maximum number of invitations of a session.
  static let limit = 256
  /// The time in which a guest may join again after its connection was lost, in nanoseconds.
  private static let rejoinWindow: UInt64 = 120_000_000_000

  private struct OpenInvitation {
    let invitation: Invitation
    /// The number of guests that may still join, until `expires`, in nanoseconds of the loop's
    /// clock.
    var uses: Int
    let expires: UInt64
    /// The times until which earlier guests may join again.
    var rejoinDeadlines: [UInt64] = []
    /// The number of guests in the session.
    var guestCount = 0

    mutating func expire(before now: UInt64) {
      if expires < now { uses = 0 }
      rejoinDeadlines.removeAll { $0 < now }
    }

    var isOpen: Bool { uses > 0 || !rejoinDeadlines.isEmpty }
  }

  private var entries: [OpenInvitation] = []

  /// Adds an invitation for `uses` guests. Throws 2429 if there are too many invitations.
  mutating func add(
    _ invitation: Invitation, uses: Int, expires: UInt64, at now: UInt64
  ) throws(CallError) {
    removeExpired(at: now)
    guard entries.count < Self.limit else {
      throw CallError(
        .tooMany, "\(Self.limit) invitations of the session are open",
        data: ["limit": .integer(Int64(Self.limit))])
    }
    entries.append(OpenInvitation(invitation: invitation, uses: uses, expires: expires))
  }

  /// The invitation of a token that can be used now; nil if there is none.
  mutating func find(_ token: String, at now: UInt64) -> Invitation? {
    removeExpired(at: now)
    var found: Invitation?
    for entry in entries where SessionSecret.areEqual(entry.invitation.token, token) && entry.isOpen
    {
      found = entry.invitation
    }
    return found
  }

  /// Whether the invitation of a token has guests in the session.
  func isInUse(_ token: String) -> Bool {
    entries.contains { SessionSecret.areEqual($0.invitation.token, token) && $0.guestCount > 0 }
  }

  /// Counts a guest that has joined.
  mutating func redeem(_ invitation: Invitation) {
    update(invitation) { entry in
      if entry.rejoinDeadlines.isEmpty {
        entry.uses -= 1
      } else {
        entry.rejoinDeadlines.removeFirst()
      }
      entry.guestCount += 1
    }
  }

  /// Counts a guest that has left. Unless `isFinal`, it may join again for a while, as a page does
  /// that reloads.
  mutating func release(_ invitation: Invitation, isFinal: Bool, at now: UInt64) {
    update(invitation) { entry in
      entry.guestCount -= 1
      if !isFinal { entry.rejoinDeadlines.append(now &+ Self.rejoinWindow) }
    }
    removeExpired(at: now)
  }

  /// The stored form. `wall` is `now` by the wall clock, in milliseconds.
  func record(at now: UInt64, wall: Int64) -> ValueObject {
    func time(_ moment: UInt64) -> Value {
      .integer(wall + (Int64(clamping: moment) - Int64(clamping: now)) / 1_000_000)
    }
    return [
      "open": .array(
        entries.map { entry in
          var members = entry.invitation.record
          members["uses"] = .integer(Int64(entry.uses))
          members["expiresAt"] = time(entry.expires)
          members["returns"] = .array(entry.rejoinDeadlines.map(time))
          return .object(members)
        })
    ]
  }

  /// Restores an invitation from its record. Its guests are counted when they are restored.
  mutating func restore(
    _ invitation: Invitation, _ record: StoredRecord, at now: UInt64, wall: Int64
  ) throws(StoredRecord.RecordDecodingError) {
    func moment(_ time: Int64) -> UInt64 {
      UInt64(clamping: Int64(clamping: now) + (time - wall) * 1_000_000)
    }
    let returns = try record.list("returns").map {
      (time) throws(StoredRecord.RecordDecodingError) in
      guard let time = time.integer else { throw record.typeMismatch("returns", "list of times") }
      return moment(time)
    }
    entries.append(
      OpenInvitation(
        invitation: invitation, uses: Int(clamping: try record.integer("uses")),
        expires: moment(try record.integer("expiresAt")), rejoinDeadlines: returns))
  }

  /// Counts a guest of an earlier run of the server, and returns its invitation.
  mutating func restoreGuest(of token: String) -> Invitation? {
    guard let index = entries.firstIndex(where: { $0.invitation.token == token }) else {
      return nil
    }
    entries[index].guestCount += 1
    return entries[index].invitation
  }

  private mutating func update(_ invitation: Invitation, _ change: (inout OpenInvitation) -> Void) {
    guard let index = entries.firstIndex(where: { $0.invitation === invitation }) else { return }
    change(&entries[index])
  }

  private mutating func removeExpired(at now: UInt64) {
    for index in entries.indices { entries[index].expire(before: now) }
    entries.removeAll { $0.guestCount == 0 && !$0.isOpen }
  }
}
