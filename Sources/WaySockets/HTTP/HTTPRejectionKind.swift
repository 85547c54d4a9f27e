/// The category of a rejected request, a label of the counter in `/metrics`.
package enum HTTPRejectionKind: String, CaseIterable, Sendable {
  /// Not HTTP, or not supported by the server.
  case request
  case host
  case origin
  /// Received through a proxy that is not trusted.
  case proxy
  /// Not an acceptable WebSocket handshake.
  case handshake
  /// The server has reached its limit of connections.
  case full
  /// The client's address has too many connections, or connects too often.
  case address
  /// Too many clients are not authenticated yet.
  case unauthenticated
  /// The server is shutting down.
  case ending
  /// The process has no free descriptor.
  case descriptors
}
