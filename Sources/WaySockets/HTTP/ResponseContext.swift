import WayTransport

/// What the response to a request depends on besides its content.
struct ResponseContext {
  var isHead = false
  /// The second number of the client's HTTP version.
  var minorVersion = 1
  /// Whether the connection counts toward the server's limit.
  var hasSlot = true
  /// Whether the server was ending when the request arrived.
  var isDraining = false
  /// The client that a trusted proxy names; `nil` without a proxy.
  var client: SocketForwardedNode?

  /// How a streamed response is delimited.
  var framing: StreamFraming { minorVersion == 0 ? .connectionEnd : .chunked }

  /// Checks that the client may have a streamed response, which lasts as long as a WebSocket
  /// connection may. Returns the slot of the client's address; `nil` if it does not count, or if its
  /// connection has one.
  func admitStream(at server: ServerSockets) throws(HTTPRequestRejection) -> AddressQuota.Slot? {
    if !hasSlot { throw .full }
    if isDraining { throw .ending }
    return try client.map(server.slot)
  }
}
