extension BridgeClient {
  /// The state of a client's connection.
  public enum ConnectionState: Sendable {
    /// The session is open.
    case open
    /// The connection was lost, and the client reconnects after `delay`. `attempt` counts
    /// consecutive attempts, from 1. Calls wait.
    case waiting(ClientConnectionEnd, attempt: Int, delay: Duration)
    /// The session was resumed over another connection, and nothing was lost. If the server was
    /// restarted meanwhile, calls without an idempotency key that it may have been running throw
    /// 2599.
    case resumed
    /// The session was lost, and a new session has replaced it.
    case sessionReplaced(LostSession)
    /// There is no connection, and none will be made.
    case ended(ClientConnectionEnd)
  }

  /// A session that no longer existed when its client reconnected, and what was lost with it.
  ///
  /// The client's hosts and subscriptions already belong to the new session. Calls with an
  /// idempotency key were repeated, and calls that had not been sent are sent.
  public struct LostSession: Sendable {
    /// The reason: `unknown` after too long a time or after a restart of the server without its
    /// state, or `token`, `epoch`, `gap` or `outbox` (PROTOCOL.md, session.resume).
    public let reason: String
    /// The lost session.
    public let session: SessionDescription
    /// The calls whose outcome is unknown, oldest first; each has thrown 2599.
    public let calls: [LostCall]
    /// The pages that this client showed, topmost first; the client asks their hosts to close them.
    public let pages: [HostedPage]
  }

  /// A call whose outcome is unknown.
  public struct LostCall: Sendable, Hashable {
    /// The method, for example `router.invoke`.
    public let method: String
    /// The URI that the call concerned; nil for a method without a URI.
    public let uri: String?
  }

  /// The states of a connection, in order; the stream ends with ``ConnectionState/ended(_:)``.
  public typealias ConnectionStates = AsyncStream<ConnectionState>
}
