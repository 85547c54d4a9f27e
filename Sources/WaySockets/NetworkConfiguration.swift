/// The address of a server, and the connections that it accepts there.
public struct NetworkConfiguration: Sendable {
  /// An address to listen on: `127.0.0.1`, `::1`, or `localhost` for both of them. Other addresses
  /// require the authentication of clients, or anonymous clients to be allowed: `0.0.0.0` for all IPv4
  /// addresses, `::` for all IPv4 and IPv6 addresses.
  public var host = "127.0.0.1"
  /// The TCP port; 0 selects a free one.
  public var port = 8080
  /// The path of a Unix socket to listen on, instead of ``host`` and ``port``. Its mode is 0600, so
  /// that only programs of the same user connect.
  ///
  /// A socket left by a dead server is replaced. If the file belongs to a live server or is not a
  /// socket, the server does not start.
  public var unixPath: String?
  /// The path below which everything is served, such as `/app`; empty for none. Requests outside of
  /// it get 404.
  public var prefix = ""
  /// Origins of pages that can connect, in addition to the server's own:
  /// `https://app.example.org`, with `*` for any port (`http://localhost:*`) or for the first label of the host
  /// (`https://*.example.org`), or `null`. With an invalid origin the server does not start.
  public var allowedOrigins: [String] = []
  /// Names of the server for the header Host, in addition to `127.0.0.1`, `localhost` and `[::1]`.
  /// `NAME` means that name without a port or with the server's, `NAME:PORT` only that port. Pages
  /// that are served under such a name, by `http` or `https`, have the server's own origin. With an
  /// invalid name the server does not start.
  public var allowedHosts: [String] = []
  /// Addresses of trusted proxies, which forward the client's address (`Forwarded`,
  /// `X-Forwarded-For`): IPv4, IPv6, networks such as `10.0.0.0/8`, and `unix` for programs that
  /// connect over the Unix socket. Requests through any other proxy are rejected. With an invalid
  /// address the server does not start.
  public var trustedProxies: [String] = []
  /// The header fields of a client's handshake that the app can read, case-insensitive.
  public var handshakeHeaders: [String] = []

  /// Creates the configuration of a server on port 8080 of the loopback interface.
  public init() {}
}
