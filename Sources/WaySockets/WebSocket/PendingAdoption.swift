import WayTransport

/// A socket that is becoming a connection on a loop.
struct PendingAdoption {
  let id: UInt64
  /// The limits of the connection, without the budgets of its loop.
  let limits: ConnectionLimits
  /// The state from another loop; `nil` for a new connection.
  let transferState: SocketConnection.TransferState?
  /// Attaches the receiver of the connection.
  let attachReceiver: (SocketConnection) -> Void

  /// A new connection, after its handshake. The limits of its endpoint replace those of the server.
  init(_ upgrade: WebSocketUpgrade, id: UInt64, _ configuration: SocketServerConfiguration) {
    let endpoint = upgrade.endpoint
    var limits = configuration.connection
    limits.maximumMessage = endpoint.maxMessage
    limits.maximumMessageBeforeAdmission = endpoint.maxMessageBeforeAdmission
    limits.maximumBuffered = endpoint.maxBuffered ?? configuration.limits.maxQueueBytes
    self.id = id
    self.limits = limits
    transferState = nil
    attachReceiver = { connection in
      connection.attach(endpoint.acceptor.accept(connection, upgrade.handshake))
    }
  }

  /// A connection from another loop, with its limits. `onMoved` attaches a receiver.
  init(
    _ transferState: SocketConnection.TransferState,
    _ onMoved: @escaping (any MessageChannel) -> Void
  ) {
    id = transferState.id
    limits = transferState.limits
    self.transferState = transferState
    attachReceiver = onMoved
  }
}
