extension BridgeClient {
  /// What a client does when its connection is lost.
  ///
  /// It goes on with its session over another connection, as long as the server keeps that (120 s,
  /// unless told otherwise): its pages, hosts and subscriptions stay, and so do calls, which are
  /// carried out and answered once, and in their order. Calls that are made meanwhile wait. When the
  /// session is gone, a new one is begun, and ``BridgeClient/connectionStates()`` tells what was
  /// lost with the old one.
  ///
  /// A connection that the server closes for good, with 1000, 40xx and a few others (PROTOCOL.md,
  /// Close codes), is the end in any case, and so is one of a server that cannot resume.
  public enum Reconnection: Sendable, Hashable {
    /// A lost connection is the end, as soon as it is lost; the server keeps nothing for the client.
    case never
    /// The client connects again by itself: at once where the connection was lost or the server asks
    /// for it (42xx), and then after half a second to a second, twice as long each time, up to half
    /// a minute.
    ///
    /// - Parameters:
    ///   - attempts: how often in a row, without having a session in between; 0 never connects
    ///     again.
    ///   - within: how long after the connection was lost; nil for ever.
    case automatic(attempts: Int = .max, within: Duration? = nil)
  }
}
