import WayTransport

/// The configuration of a ``SocketServer``.
package struct SocketServerConfiguration: Sendable {
  /// The address, and the connections that are accepted there. ``access`` has its rules.
  package var network = NetworkConfiguration()
  package var web = WebConfiguration()
  package var limits = Limits()
  /// Whether clients may connect from other machines. If not, hosts other than `127.0.0.1`, `::1`
  /// and `localhost` are rejected.
  package var allowsRemoteClients = false
  /// Whether clients are authenticated. If not, ``Limits/maxUnauthenticated`` does not apply.
  package var authenticatesClients = false
  /// A socket that already listens, inherited from the parent process. It replaces the address of
  /// ``network``. It is closed when the server ends.
  package var descriptor: Int32?
  /// The initial access rules.
  package var access = AccessRules()
  /// Paths below the prefix that ignore the Host and Origin headers. Scripts of an allowed origin
  /// may read the responses (CORS).
  package var openPaths: Set<String> = []
  /// Files that are part of the program, by path. They take precedence over those of the folder.
  package var embeddedFiles: [String: HTTPEmbeddedFile] = [:]
  /// The content security policies of files in certain top-level folders, by the folder's name. They
  /// replace ``WebConfiguration/contentSecurityPolicy`` there.
  package var folderPolicies: [String: String] = [:]
  /// Additional header fields of every HTTP response.
  package var headers: [(name: String, value: String)] = []
  /// Maximum number of connections beyond ``Limits/maxConnections``. Their request is read, and gets
  /// a response if it is served even when the server is full. If this limit is reached too, the
  /// server rejects the one that has waited longest.
  package var maximumOverflowConnections = 16
  /// Maximum number of bytes of incomplete request heads, over all connections, without the first 8
  /// KiB of each, and at most ``Limits/maxServerBytes``. Beyond it the response is 503.
  package var maximumHeads = 64 * 1024 * 1024
  /// Maximum time for a client to send a request's head, and to be idle between two requests.
  package var headTimeout = Duration.seconds(10)
  /// Maximum time for a client to send a request's body. Then the response is 408.
  package var bodyTimeout = Duration.seconds(30)
  /// Maximum number of bytes of request bodies without a response yet, over all connections, and at
  /// most ``Limits/maxServerBytes``. Of a body that is passed on in parts, one part counts. Beyond it
  /// the response is 503.
  package var maximumBodies = 64 * 1024 * 1024
  /// Maximum time without progress in writing a response.
  package var writeTimeout = Duration.seconds(30)
  /// The limits of each WebSocket connection, except those of its endpoint.
  package var connection = ConnectionLimits()
  /// Maximum time for which a server that stops waits for a client to which everything was sent: to
  /// confirm the close of its WebSocket, or to close its HTTP connection.
  package var lingerTimeout = Duration.seconds(1)

  /// Receives each rejected request. Called on the loop.
  package var onRejection: @Sendable (RejectedRequest) -> Void = { _ in }

  package init() {}
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
    let prefix = network.prefix
    guard prefix.isEmpty || Self.isPrefix(prefix) else {
      throw SocketError(.invalid, "the prefix must be \(Self.prefixFormat), not \(quoted(prefix))")
    }
    for name in network.handshakeHeaders where name.isEmpty || !name.utf8.allSatisfy(isTokenByte) {
      throw SocketError(.invalid, "\(quoted(name)) is not a name of a header field")
    }
    let policies = [web.contentSecurityPolicy] + folderPolicies.values
    for (name, value) in headers + policies.map({ ("Content-Security-Policy", $0) }) {
      let isField = !name.isEmpty && name.utf8.allSatisfy(isTokenByte)
      guard isField, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw SocketError(
          .invalid, "\(quoted(value)) is not a value of the header field \(quoted(name))")
      }
    }
  }
}

/// The limits of a connection.
package struct ConnectionLimits: Sendable {
  /// Maximum number of bytes of one message.
  var maximumMessage = 1 << 20
  /// The same until the channel is admitted; `nil` if it is admitted from the start.
  var maximumMessageBeforeAdmission: Int?
  /// Maximum number of bytes of memory for unsent data. Beyond it the connection is closed with
  /// 4201.
  var maximumBuffered = 8 << 20
  /// Number of unsent bytes at which reading stops, until a quarter of it is left.
  package var highWater = 256 << 10
  /// A peer with this much unsent data that reads nothing for this time is closed with 4201.
  package var stallTimeout = Duration.seconds(10)
  /// The budget of unsent data.
  var outbound = SocketMemoryBudget()
  /// The budget of received data that waits for the rest of its message, or for its turn.
  var inbound = SocketMemoryBudget()
  /// Maximum time for a closing connection to send its data.
  package var closeTimeout = Duration.seconds(5)
}
