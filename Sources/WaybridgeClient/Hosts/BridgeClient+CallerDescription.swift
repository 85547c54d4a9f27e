import WayValues

extension BridgeClient {
  /// Who makes a call that this client serves, as the server tells it.
  public struct Caller: Sendable, Hashable {
    /// The session that the call belongs to; another than the client's own where it hosts for all
    /// sessions.
    public let session: String
    /// The client that calls; nil where the app itself does.
    public let client: Client?
    /// The user; nil where nobody is known.
    public let user: String?
    /// The groups of the user that the caller acts for.
    public let groups: [String]
    /// The origin of the page that the caller runs in; nil for what is no page.
    public let origin: String?
    /// Whether it was invited, and so may do less than others.
    public let isGuest: Bool

    /// A client of a session.
    public struct Client: Sendable, Hashable {
      /// Its name on the wire.
      public let id: String
      /// What it calls itself; nobody has checked that.
      public let name: String?
      /// The version of that program.
      public let version: String?
      /// The page that it runs in.
      public let page: String?

      /// A client, for tests of a host.
      public init(id: String, name: String? = nil, version: String? = nil, page: String? = nil) {
        self.id = id
        self.name = name
        self.version = version
        self.page = page
      }
    }

    /// A caller, for tests of a host.
    public init(
      session: String, client: Client? = nil, user: String? = nil, groups: [String] = [],
      origin: String? = nil, isGuest: Bool = false
    ) {
      self.session = session
      self.client = client
      self.user = user
      self.groups = groups
      self.origin = origin
      self.isGuest = isGuest
    }

    /// Nil where the server tells none.
    init?(_ value: Value?) {
      guard let session = value?["session"]?.string else { return nil }
      let client = value?["client"]
      self.init(
        session: session,
        client: client?["id"]?.string.map { id in
          Client(
            id: id, name: client?["name"]?.string, version: client?["version"]?.string,
            page: client?["page"]?.string)
        },
        user: value?["user"]?.string,
        groups: (value?["groups"]?.list ?? []).compactMap(\.string),
        origin: value?["origin"]?.string, isGuest: value?["guest"]?.bool ?? false)
    }
  }
}
