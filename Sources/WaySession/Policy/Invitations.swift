import WayTransport
import WayValues

/// The invitations of one session that can still be used. Belongs to its ``Session``'s isolation.
struct Invitations {
  /// How many a session keeps.
  static let limit = 256
  /// How long a guest whose connection was lost may come again, in nanoseconds.
  private static let window: UInt64 = 120_000_000_000

  private struct Kept {
    let invitation: Invitation
    /// How many guests may still come, until `expires`, in the loop's nanoseconds.
    var uses: Int
    let expires: UInt64
    /// Until when those may come again who were there.
    var returns: [UInt64] = []
    /// How many guests are there.
    var guests = 0

    mutating func forget(before now: UInt64) {
      if expires < now { uses = 0 }
      returns.removeAll { $0 < now }
    }

    var isOpen: Bool { uses > 0 || !returns.isEmpty }
  }

  private var entries: [Kept] = []

  /// Keeps an invitation for so many guests. Fails with 2429 where there are too many.
  mutating func add(
    _ invitation: Invitation, uses: Int, expires: UInt64, at now: UInt64
  ) throws(CallError) {
    removeExpired(at: now)
    guard entries.count < Self.limit else {
      throw CallError(
        .tooMany, "\(Self.limit) invitations of the session are open",
        data: ["limit": .integer(Int64(Self.limit))])
    }
    entries.append(Kept(invitation: invitation, uses: uses, expires: expires))
  }

  /// The invitation of a token that can be used now; nil for none.
  mutating func find(_ token: String, at now: UInt64) -> Invitation? {
    removeExpired(at: now)
    var found: Invitation?
    for entry in entries where Token.areEqual(entry.invitation.token, token) && entry.isOpen {
      found = entry.invitation
    }
    return found
  }

  /// Whether a token's invitation has as many guests now as it is for.
  func isTaken(_ token: String) -> Bool {
    entries.contains { Token.areEqual($0.invitation.token, token) && $0.guests > 0 }
  }

  /// A guest has come.
  mutating func use(_ invitation: Invitation) {
    change(invitation) { entry in
      if entry.returns.isEmpty { entry.uses -= 1 } else { entry.returns.removeFirst() }
      entry.guests += 1
    }
  }

  /// A guest has gone: for good, or so that it may come again for a while, as a page does that
  /// reloads.
  mutating func giveBack(_ invitation: Invitation, isOver: Bool, at now: UInt64) {
    change(invitation) { entry in
      entry.guests -= 1
      if !isOver { entry.returns.append(now &+ Self.window) }
    }
    removeExpired(at: now)
  }

  /// What is kept of them; `wall` is `now` by the wall clock, in milliseconds.
  func record(at now: UInt64, wall: Int64) -> ValueObject {
    func time(_ moment: UInt64) -> Value {
      .integer(wall + (Int64(clamping: moment) - Int64(clamping: now)) / 1_000_000)
    }
    return [
      "open": .list(
        entries.map { entry in
          var members = entry.invitation.record
          members["uses"] = .integer(Int64(entry.uses))
          members["expiresAt"] = time(entry.expires)
          members["returns"] = .list(entry.returns.map(time))
          return .object(members)
        })
    ]
  }

  /// Reads one of them; its guests are counted when they are there again.
  mutating func restore(
    _ invitation: Invitation, _ record: Record, at now: UInt64, wall: Int64
  ) throws(Record.Fault) {
    func moment(_ time: Int64) -> UInt64 {
      UInt64(clamping: Int64(clamping: now) + (time - wall) * 1_000_000)
    }
    let returns = try record.list("returns").map { (time) throws(Record.Fault) in
      guard let time = time.integer else { throw record.fault("returns", "list of times") }
      return moment(time)
    }
    entries.append(
      Kept(
        invitation: invitation, uses: Int(clamping: try record.integer("uses")),
        expires: moment(try record.integer("expiresAt")), returns: returns))
  }

  /// A guest of another life is there again; gives its invitation.
  mutating func restoreGuest(of token: String) -> Invitation? {
    guard let place = entries.firstIndex(where: { $0.invitation.token == token }) else {
      return nil
    }
    entries[place].guests += 1
    return entries[place].invitation
  }

  private mutating func change(_ invitation: Invitation, _ change: (inout Kept) -> Void) {
    guard let place = entries.firstIndex(where: { $0.invitation === invitation }) else { return }
    change(&entries[place])
  }

  private mutating func removeExpired(at now: UInt64) {
    for place in entries.indices { entries[place].forget(before: now) }
    entries.removeAll { $0.guests == 0 && !$0.isOpen }
  }
}
