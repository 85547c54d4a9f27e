import WayNavigation
import WayRouting

/// The state of a session at one moment.
public struct SessionInfo: Sendable, Hashable {
  /// The session's id.
  public let id: String
  /// The identity of the session.
  public let identity: Identity
  /// The clients, in the order in which they joined.
  public let clients: [ClientInfo]
  /// The open pages, lowest first; those of a modal stack follow the pages below it. Pages of
  /// background tabs come before all others.
  public let pages: [Page]
}

/// The state of a client of a session at one moment.
public struct ClientInfo: Sendable, Hashable {
  /// The client's name on the wire.
  public let id: String
  /// The name of the program, as given in `session.open`; `nil` if the client gave none. At most
  /// 256 bytes, like `version` and `platform`.
  public let name: String?
  /// The version of the program.
  public let version: String?
  /// The platform that the program runs on.
  public let platform: String?
  /// The page that the client runs in.
  public let page: String?
}

/// The request of `session.list`: the sessions in the order of their ids.
struct SessionListQuery: Codable, Sendable {
  /// The id after which the page begins; `nil` for the first page.
  let after: String?
  /// The maximum number of sessions.
  let limit: Int
  /// The bytes that the entries may have as JSON. The first entry is shortened to fit.
  let maxBytes: Int
}
