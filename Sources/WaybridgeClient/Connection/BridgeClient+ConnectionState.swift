extension BridgeClient {
  /// What has become of a client's connection.
  public enum ConnectionState: Sendable {
    /// The session is open.
    case open
    /// The connection was lost, and the client connects again after `delay`: for the `attempt`th time in
    /// a row, from 1. Calls wait.
    case waiting(ClientConnectionEnd, attempt: Int, delay: Duration)
    /// The session goes on over another connection, and nothing was lost. Where the server was
    /// restarted meanwhile, calls without a key that it may have been carrying out throw 2599.
    case resumed
    /// The session was gone, and a new one has begun in its place.
    case begunAnew(LostSession)
    /// There is no connection any more, and will be none.
    case ended(ClientConnectionEnd)
  }

  /// What went with a session that was gone when its client came back.
  ///
  /// The client's hosts and subscriptions are those of the new session by now, calls with a key were
  /// made again, and calls that had not been sent are sent.
  public struct LostSession: Sendable {
    /// Why it was gone: `unknown` after too long a time or of a server that has begun anew, `token`,
    /// `epoch`, `gap` or `outbox` (PROTOCOL.md, session.resume).
    public let reason: String
    /// The session as it was.
    public let session: Session
    /// The calls whose outcome is unknown, oldest first; each has thrown 2599.
    public let calls: [LostCall]
    /// The pages that this client showed, topmost first; their hosts are told to close them.
    public let pages: [Page]
  }

  /// A call whose outcome is unknown.
  public struct LostCall: Sendable, Hashable {
    /// Its method, `router.invoke` for one.
    public let method: String
    /// What it was about; nil for a method without a URI.
    public let uri: String?
  }

  /// What becomes of a connection, in its order; it ends with ``ConnectionState/ended(_:)``.
  public typealias ConnectionStates = AsyncStream<ConnectionState>
}
