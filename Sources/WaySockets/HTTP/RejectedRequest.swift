/// A request that the server has rejected before it handled it.
package struct RejectedRequest: Sendable {
  /// The status of the response.
  package let status: Int
  /// The text for the client. Contains no path, query or token.
  package let reason: String
  package let kind: HTTPRejectionKind
  /// How the operator can allow the request.
  package let hint: String?
  /// The client's address; `nil` if it is unknown.
  package let address: String?
  /// The Origin header; `nil` if it is missing, was not read or is not an origin.
  package let origin: String?

  init(_ rejection: HTTPRequestRejection, from address: String?, origin: String?) {
    status = rejection.status
    reason = rejection.reason
    kind = rejection.kind
    hint = rejection.hint
    self.address = address
    self.origin = origin
  }
}

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
