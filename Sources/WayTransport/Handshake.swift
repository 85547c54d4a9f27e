/// What a peer shows of itself before it says anything: in its WebSocket handshake, or in the head of
/// an HTTP request.
public struct Handshake: Sendable {
  /// The subprotocol that was agreed on; nil for none, and for an HTTP request.
  package var subprotocol: String?
  /// The origin of the page that the peer runs in, as it was sent; nil for what is no page.
  public var origin: String?
  /// The address that the peer comes from, without a port; `unix` by way of a Unix socket; that which
  /// a trusted proxy names in the place of the proxy's own. Nil inside the process.
  public var address: String?
  /// The token that the peer has sent with its request; nil for none.
  public var token: String?
  /// The header fields that the server was asked to hand on, in their order, names in lower case.
  public var headers: [(name: String, value: String)]
  /// When it came, in nanoseconds of the loops' clock, before it was answered: the loop that takes
  /// the connection does so later. Nil where that is at once.
  package var came: UInt64?

  /// Also for tests of what tells who a client is.
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
