import WayTransport

/// Accepts the connections of a server, on the loops of their channels.
package struct ConnectionAcceptor: ChannelAcceptor {
  private let sessionServer: SessionServer

  package init(_ sessionServer: SessionServer) { self.sessionServer = sessionServer }

  package func accept(
    _ channel: any MessageChannel, _ handshake: Handshake
  ) -> any MessageReceiver {
    let loop = channel.loop
    guard let loopSessions = sessionServer.sessionsByLoop.first(where: { $0.loop === loop }) else {
      channel.close(.drain, "the server is shutting down")
      return DiscardingReceiver()
    }
    let connection = Connection(AcceptedConnection(channel, handshake, on: loopSessions))
    connection.begin()
    return connection
  }

  /// Discards messages after the server has ended.
  private final class DiscardingReceiver: MessageReceiver {
    func receive(_ message: RawSpan, as kind: MessageKind) {}
    func closed(_ code: UInt16?) {}
  }
}
