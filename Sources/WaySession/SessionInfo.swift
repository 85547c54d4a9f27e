import WayNavigation
import WayRouting

/// A session as it is at one moment.
public struct SessionInfo: Sendable, Hashable {
  /// The session's id.
  public let id: String
  /// Whose it is.
  public let identity: Identity
  /// Its clients in the order in which they came.
  public let clients: [ClientInfo]
  /// Its open pages, bottom first, those of modal stacks after those beneath; before them the pages
  /// of tabs that wait.
  public let pages: [Page]
}

/// A client of a session as it is at one moment.
public struct ClientInfo: Sendable, Hashable {
  /// The client's name on the wire.
  public let id: String
  /// What the client calls itself in `session.open`; nil where it did not say. At most 256 bytes,
  /// as are the others.
  public let name: String?
  /// The version of that program.
  public let version: String?
  /// What that program runs on.
  public let platform: String?
  /// The page that the client runs in.
  public let page: String?
}
