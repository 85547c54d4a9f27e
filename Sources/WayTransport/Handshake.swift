/// The data of a client's WebSocket handshake, or of the head of an HTTP request.
public struct Handshake: Sendable {
  /// The subprotocol of clients that open a session. Without it a connection speaks plain JSON-RPC.
  package static let sessionSubprotocol = "waybridge.v1"

  /// The selected subprotocol; `nil` for none, and for an HTTP request.
  package var subprotocol: String?
  /// The origin of the client's page, as sent; `nil` if the client is not a page.
  public var origin: String?
  /// The address of the client, without a port. Over a Unix socket it is `unix`. Behind a trusted
  /// proxy it is the address that the proxy names. It is `nil` inside the process.
  public var address: String?
  /// The token in the request; `nil` for none.
  public var token: String?
  /// The header fields that the server is configured to include, in their order, names in lower
  /// case.
  public var headers: [(name: String, value: String)]
  /// The time when the server received the request, in nanoseconds of the loop's clock. The loop
  /// that adopts the connection starts later. `nil` if that is the same time.
  package var receivedAt: UInt64?
  /// Whether the connection was accepted beyond the server's limit of connections, so that only an
  /// administrator may use it.
  package var isReserved = false

  /// Creates a handshake, also for tests of an authenticator.
  public init(
    origin: String? = nil, address: String? = nil, token: String? = nil,
    headers: [(name: String, value: String)] = []
  ) {
    self.init(
      subprotocol: nil, origin: origin, address: address, token: token, headers: headers)
  }

  package init(
    subprotocol: String?, origin: String? = nil, address: String? = nil,
    token: String? = nil, headers: [(name: String, value: String)] = []
  ) {
    self.subprotocol = subprotocol
    self.origin = origin
    self.address = address
    self.token = token
    self.headers = headers
  }
}
