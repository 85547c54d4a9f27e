/// The configuration of a ``SocketServer``.
package struct SocketServerConfiguration: Sendable {
  /// `127.0.0.1`, `::1`, or `localhost` for both; other values are rejected unless
  /// ``allowsRemoteClients`` is set.
  package var host: String
  /// 0 selects any free port.
  package var port: Int
  /// Whether ``host`` may be any IPv4 or IPv6 address, so that other machines can connect. `::` is
  /// every address of both kinds.
  package var allowsRemoteClients = false
  /// The path of a Unix socket to listen on, instead of ``host`` and ``port``.
  package var unixPath: String?
  /// A socket that already listens, inherited from the parent process. It replaces ``host``,
  /// ``port`` and ``unixPath``. It is closed when the server ends.
  package var descriptor: Int32?
  /// The initial access rules.
  package var access = AccessRules()
  /// The path prefix of everything that is served. It begins with a slash and ends without one;
  /// empty for none.
  package var prefix = ""
  /// Paths below the prefix that ignore the Host and Origin headers. Scripts of an allowed origin
  /// may read the responses (CORS).
  package var openPaths: Set<String> = []
  /// The header fields to include in ``Handshake/headers``, in any case.
  package var handshakeHeaders: [String] = []
  /// The folder whose files are served. Without one, paths without a handler get status 404.
  package var webRoot: String?
  /// Files that are part of the program, by path. They take precedence over those of the folder.
  package var embeddedFiles: [String: HTTPEmbeddedFile] = [:]
  /// The content security policy of files, both embedded and from the folder; empty for none. If it
  /// has no frame-ancestors, the server adds its own pages and those of allowed origins.
  package var contentSecurityPolicy = FileHeaders.defaultPolicy
  /// The content security policies of files in certain top-level folders, by the folder's name. They
  /// replace ``contentSecurityPolicy`` there.
  package var folderPolicies: [String: String] = [:]
  /// Additional header fields of every HTTP response.
  package var headers: [(name: String, value: String)] = []
  /// Maximum number of connections of any kind. Further ones get status 503.
  package var maximumConnections = 10_000
  /// Maximum number of connections beyond ``maximumConnections``. Their request is read, and gets a
  /// response if it is served even when the server is full. If this limit is reached too, the
  /// server rejects the one that has waited longest.
  package var maximumOverflowConnections = 16
  /// Maximum number of WebSocket connections beyond ``maximumConnections``, at endpoints that
  /// authenticate. Their acceptor must close those that are not of an administrator
  /// (``Handshake/isReserved``).
  package var maximumReserved = 16
  /// Maximum number of connections of any kind whose clients are not authenticated. Beyond it, the
  /// one that has waited longest is closed; HTTP 503 if all of them receive a response. `nil` for a
  /// server that authenticates no clients.
  package var maximumUnadmitted: Int?
  /// Maximum number of connections of one address; 0 for no limit. Behind a trusted proxy, WebSocket
  /// connections of the address that it names. Connections of this machine without a proxy do not
  /// count. A further one gets status 429. An IPv6 address is its first 64 bits.
  package var maximumPerAddress = 0
  /// Connections a second of one address, on average; 0 for no limit. As many as that,
  /// or as ``maximumPerAddress``, may come at once.
  package var maximumAddressRate = 0
  /// Maximum number of bytes of a request's head. A longer one gets status 431. Browsers send the
  /// cookies of all servers on `localhost` to each of them.
  package var maximumHead = 32 * 1024
  /// Maximum number of bytes of incomplete request heads, over all connections, without the first 8
  /// KiB of each. Beyond it the response is 503.
  package var maximumHeads = 64 * 1024 * 1024
  /// Maximum time for a client to send a request's head, and to be idle between two requests.
  package var headTimeout = Duration.seconds(10)
  /// Maximum time for a client to send a request's body. Then the response is 408.
  package var bodyTimeout = Duration.seconds(30)
  /// Maximum number of bytes of request bodies without a response yet, over all connections. Beyond
  /// it the response is 503.
  package var maximumBodies = 64 * 1024 * 1024
  /// Maximum time without progress in writing a response.
  package var writeTimeout = Duration.seconds(30)
  /// Maximum number of bytes of memory for unsent data of a WebSocket connection. Beyond it the
  /// connection is closed with 4201.
  package var maximumBuffered = 8 * 1024 * 1024
  /// Maximum number of bytes of memory for unsent data of all WebSocket connections. Beyond it, the
  /// connections with most unsent data are closed with 4201.
  package var maximumBufferedTotal = 256 * 1024 * 1024
  /// Maximum number of bytes of memory for received data of all WebSocket connections that waits for
  /// the rest of its message, or for its turn. Beyond it, connections are closed with 4201: of
  /// those that hold much, the ones that have waited longest.
  package var maximumUnfinishedTotal = 256 * 1024 * 1024
  /// Time of inactivity after which a WebSocket peer is pinged. Activity is a pong, any message,
  /// and reading what is sent.
  package var ping = Duration.seconds(20)
  /// Time of inactivity after which a WebSocket connection is closed with 4202.
  package var silence = Duration.seconds(35)
  /// Maximum time for a closing WebSocket connection to send its data.
  package var closeTimeout = Duration.seconds(5)
  /// Maximum time for which a server that stops waits for a client to which everything was sent: to
  /// confirm the close of its WebSocket, or to close its HTTP connection.
  package var lingerTimeout = Duration.seconds(1)
  /// Number of unsent bytes at which the server stops reading from a client. It reads again when a
  /// quarter of it is left.
  package var highWater = 256 << 10
  /// A client with this much unsent data that reads nothing for this time is closed with 4201.
  package var stallTimeout = Duration.seconds(10)

  /// Receives each rejected request. Called on the loop.
  package var onRejection: @Sendable (RejectedRequest) -> Void = { _ in }

  package init(host: String = "127.0.0.1", port: Int, webRoot: String? = nil) {
    self.host = host
    self.port = port
    self.webRoot = webRoot
  }
}

extension SocketServerConfiguration {
  /// The expected format of a prefix, for error messages.
  package static let prefixFormat =
    "a path such as /app, of letters, digits and -._~ between slashes, with none at its end"

  /// Whether a text is a valid prefix.
  package static func isPrefix(_ text: String) -> Bool {
    guard text.utf8.count <= 256, text.hasPrefix("/") else { return false }
    return text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().allSatisfy {
      part in
      !part.isEmpty && part != "." && part != ".."
        && part.utf8.allSatisfy { byte in
          (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
            || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
        }
    }
  }

  /// Throws for the first invalid value.
  func check() throws(SocketError) {
    guard prefix.isEmpty || Self.isPrefix(prefix) else {
      throw SocketError(.invalid, "the prefix must be \(Self.prefixFormat), not \(quoted(prefix))")
    }
    for name in handshakeHeaders where name.isEmpty || !name.utf8.allSatisfy(isTokenByte) {
      throw SocketError(.invalid, "\(quoted(name)) is not a name of a header field")
    }
    let policies = [contentSecurityPolicy] + folderPolicies.values
    for (name, value) in headers + policies.map({ ("Content-Security-Policy", $0) }) {
      let isField = !name.isEmpty && name.utf8.allSatisfy(isTokenByte)
      guard isField, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw SocketError(
          .invalid, "\(quoted(value)) is not a value of the header field \(quoted(name))")
      }
    }
  }
}
