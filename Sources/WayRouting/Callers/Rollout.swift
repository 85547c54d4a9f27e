import WayValues

/// For whom a route, or a branch of a redirect, is there: a share of the users, clients of certain
/// versions, or both.
public struct Rollout: Sendable, Hashable {
  /// Programs of one name, or of all, in certain versions.
  public struct ClientVersions: Sendable, Hashable {
    /// What the program calls itself, the `client.name` of `session.open`; nil for any.
    public let name: String?
    /// Which of its versions.
    public let versions: VersionRange

    /// Clients.
    public init(name: String?, versions: VersionRange) {
      self.name = name
      self.versions = versions
    }
  }

  /// The share of users, from 0 to 1, by the place of each (``place(of:salt:)``); nil for all.
  public let share: Range<Double>?
  /// Of which clients one has to fit; empty for all.
  public let clients: [ClientVersions]

  /// A release; without anything it is for all.
  public init(share: Range<Double>? = nil, clients: [ClientVersions] = []) {
    self.share = share
    self.clients = clients
  }

  /// The place of a caller in [0, 1), the same in every process: FNV-1a (64 bits) over the UTF-8 of
  /// the salt, a byte 0, and the user or, where that is nobody, the session; the bits of the hash
  /// are then mixed (`x ^= x >> 32`, twice, with a multiplication by 0x9E3779B97F4A7C15 between), and
  /// the upper 32 of them divided by 2³².
  ///
  /// - Parameter salt: the name of the route, or the `from` of the redirect, so that each release
  ///   meets other users first.
  public static func place(of caller: Caller, salt: String) -> Double {
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

  /// Whether a caller is among those whom this is for; nobody in particular is not.
  func admits(_ caller: Caller?, salt: String) -> Bool {
    guard let caller else { return false }
    guard admits(caller.client) else { return false }
    return share.map { $0.contains(Self.place(of: caller, salt: salt)) } ?? true
  }

  private func admits(_ client: Caller.Client?) -> Bool {
    if clients.isEmpty { return true }
    guard let client, let version = client.version.flatMap(ProgramVersion.init) else {
      return false
    }
    return clients.contains { wanted in
      if let name = wanted.name, client.name?.isSameUTF8(as: name) != true { return false }
      return wanted.versions.contains(version)
    }
  }

  /// Why a caller is among those whom this is for, or is not.
  func reason(_ caller: Caller?, salt: String) -> String {
    guard let caller else { return "it is for some only (\(self)), and nobody in particular asks" }
    if !admits(caller.client) {
      let name = caller.client?.name?.brief ?? "a client without a name"
      let version = caller.client?.version?.brief ?? "without a version"
      return "it is for \(clientWords), not for \(name) \(version)"
    }
    guard let share else { return "it is for \(clientWords)" }
    let place = Self.place(of: caller, salt: salt)
    let who = caller.identity.user.map { "the user '\($0.brief)'" } ?? "the session"
    return
      "\(who) has the place \(Self.digits(place)), "
      + "\(share.contains(place) ? "inside" : "outside") of \(Self.words(share))"
  }

  private var clientWords: String {
    clients.map { "\($0.name?.brief ?? "any client") \($0.versions)" }.joined(separator: " or ")
  }

  private static func words(_ share: Range<Double>) -> String {
    "\(digits(share.lowerBound)) to \(digits(share.upperBound))"
  }

  /// Four digits after the point at most.
  private static func digits(_ share: Double) -> String {
    "\((share * 10_000).rounded() / 10_000)"
  }
}

extension Rollout: CustomStringConvertible {
  /// In words: `the share 0.0 to 0.2 of users, shop >=5.2`.
  public var description: String {
    var words: [String] = []
    if let share { words.append("the share \(Self.words(share)) of users") }
    if !clients.isEmpty { words.append(clientWords) }
    return words.isEmpty ? "everybody" : words.joined(separator: ", ")
  }

  /// The members that a route table has for it.
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
