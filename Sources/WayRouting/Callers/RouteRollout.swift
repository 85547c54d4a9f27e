import WayValues

/// The callers for which a route, or a branch of a redirect, is available: a share of the users,
/// clients of certain versions, or both.
public struct RouteRollout: Sendable, Hashable {
  /// Programs of one name, or of all, in certain versions.
  public struct ClientVersions: Sendable, Hashable {
    /// The name that the program reports, the `client.name` of `session.open`; `nil` for any.
    public let name: String?
    /// The versions of the program.
    public let versions: VersionRange

    /// Creates a condition on the client's program.
    public init(name: String?, versions: VersionRange) {
      self.name = name
      self.versions = versions
    }
  }

  /// The share of users, from 0 to 1, by the position of each (``position(of:salt:)``); `nil` for
  /// all.
  public let share: Range<Double>?
  /// The conditions of which a client has to meet one; empty for all clients.
  public let clients: [ClientVersions]

  /// Creates a rollout; without arguments it includes every caller.
  public init(share: Range<Double>? = nil, clients: [ClientVersions] = []) {
    self.share = share
    self.clients = clients
  }

  /// Returns the position of a caller in [0, 1), the same in every process.
  ///
  /// It is FNV-1a (64 bits) over the UTF-8 of the salt, a byte 0, and the user or, without a user,
  /// the session. The bits of the hash are then mixed (`x ^= x >> 32`, twice, with a multiplication
  /// by 0x9E3779B97F4A7C15 between). The upper 32 of them are divided by 2³².
  ///
  /// - Parameter salt: the name of the route, or the `from` of the redirect, so that each rollout
  ///   begins with other users.
  public static func position(of caller: Caller, salt: String) -> Double {
    var hash = StableHash()
    hash.add(salt)
    hash.add(0)
    hash.add(caller.identity.user ?? caller.session)
    var mixed = hash.value
    mixed ^= mixed >> 32
    mixed &*= 0x9E37_79B9_7F4A_7C15
    mixed ^= mixed >> 32
    return Double(mixed >> 32) / 4_294_967_296
  }

  /// Whether the rollout includes a caller. `nil`, an anonymous caller, is not included.
  func includes(_ caller: Caller?, salt: String) -> Bool {
    guard let caller else { return false }
    guard includes(caller.client) else { return false }
    return share.map { $0.contains(Self.position(of: caller, salt: salt)) } ?? true
  }

  private func includes(_ client: Caller.CallingClient?) -> Bool {
    if clients.isEmpty { return true }
    guard let client, let version = client.version.flatMap(ProgramVersion.init) else {
      return false
    }
    return clients.contains { condition in
      if let name = condition.name, client.name?.isSameUTF8(as: name) != true { return false }
      return condition.versions.contains(version)
    }
  }

  /// Returns the reason why the rollout includes a caller or not.
  func reason(_ caller: Caller?, salt: String) -> String {
    guard let caller else {
      return "it is for some callers only (\(self)), and the caller is unknown"
    }
    if !includes(caller.client) {
      let name = caller.client?.name?.brief ?? "a client without a name"
      let version = caller.client?.version?.brief ?? "without a version"
      return "it is for \(clientText), not for \(name) \(version)"
    }
    guard let share else { return "it is for \(clientText)" }
    let position = Self.position(of: caller, salt: salt)
    let subject = caller.identity.user.map { "the user '\($0.brief)'" } ?? "the session"
    return
      "\(subject) has the place \(Self.decimalText(position)), "
      + "\(share.contains(position) ? "inside" : "outside") of \(Self.shareText(share))"
  }

  private var clientText: String {
    clients.map { "\($0.name?.brief ?? "any client") \($0.versions)" }.joined(separator: " or ")
  }

  private static func shareText(_ share: Range<Double>) -> String {
    "\(decimalText(share.lowerBound)) to \(decimalText(share.upperBound))"
  }

  /// Returns the share with at most four digits after the decimal point.
  private static func decimalText(_ share: Double) -> String {
    "\((share * 10_000).rounded() / 10_000)"
  }
}

extension RouteRollout: CustomStringConvertible {
  /// The rollout in words: `the share 0.0 to 0.2 of users, shop >=5.2`.
  public var description: String {
    var words: [String] = []
    if let share { words.append("the share \(Self.shareText(share)) of users") }
    if !clients.isEmpty { words.append(clientText) }
    return words.isEmpty ? "everybody" : words.joined(separator: ", ")
  }

  /// The members of the rollout in a route table.
  package var members: ValueObject {
    var members: ValueObject = [:]
    members["share"] = share.map { Value($0.upperBound - $0.lowerBound) }
    if !clients.isEmpty {
      members["clients"] = .object(
        ValueObject(clients.map { ($0.name ?? "*", .string($0.versions.description)) }))
    }
    return members
  }
}
