/// What a ``SocketServer`` is told at its start.
package struct SocketServerConfiguration: Sendable {
  /// `127.0.0.1`, `localhost` or `::1`; anything else is refused unless ``allowsOthers`` is set.
  package var host: String
  /// 0 takes any free port.
  package var port: Int
  /// Whether ``host`` may be any IPv4 or IPv6 address, so that other machines get in.
  package var allowsOthers = false
  /// The path of a Unix socket to listen at in the place of ``host`` and ``port``.
  package var unixPath: String?
  /// A socket that listens already, handed over by who has started the process, in the place of all
  /// these; it is closed when the server ends.
  package var descriptor: Int32?
  /// Who comes in, at the start.
  package var access = AccessRules()
  /// The path below which everything is served: begins with a slash and ends without one; empty for
  /// none.
  package var prefix = ""
  /// Paths below the prefix that answer whatever Host and Origin say. Scripts of an origin that is
  /// let in may read these answers (CORS).
  package var openPaths: Set<String> = []
  /// The header fields that ``Handshake/headers`` hands on, in any case.
  package var handshakeHeaders: [String] = []
  /// The folder whose files are served; without one, paths that are nobody's are 404.
  package var webRoot: String?
  /// Files that are part of the program, by the paths that they are served at; they go before those
  /// of the folder.
  package var embeddedFiles: [String: HTTPEmbeddedFile] = [:]
  /// The content security policy of files, of a folder and of the program; empty for none. Who may
  /// show them in a frame is added where it says nothing of that: the server's own pages, and those
  /// of the origins that are let in.
  package var contentSecurityPolicy = FileHeaders.usualPolicy
  /// Header fields that every HTTP answer carries, besides its own.
  package var headers: [(name: String, value: String)] = []
  /// Connections of any kind at a time; those beyond are answered 503.
  package var maximumConnections = 10_000
  /// Connections beyond those whose request is read first: it is answered where it asks for what is
  /// served even when the server is full. Where these are taken too, the one goes that has waited
  /// longest.
  package var maximumExtraConnections = 16
  /// Bytes of a request's head; a longer one is answered 431.
  package var maximumHead = 8 * 1024
  /// How long a client may take to send a request's head, and rest between two requests.
  package var headTimeout = Duration.seconds(10)
  /// How long a client may take to send a request's body; then it is answered 408.
  package var bodyTimeout = Duration.seconds(30)
  /// Bytes of request bodies that are read or not answered yet, on all connections together; one
  /// beyond is answered 503.
  package var maximumBodies = 64 * 1024 * 1024
  /// How long a client may take none of an answer.
  package var writeTimeout = Duration.seconds(30)
  /// Bytes of memory that what waits to be sent on a WebSocket connection may take up; beyond, it is
  /// closed with 4201.
  package var maximumBuffered = 8 * 1024 * 1024
  /// Bytes of memory that what waits to be sent may take up on all WebSocket connections together;
  /// beyond, those for whom most waits are closed with 4201.
  package var maximumBufferedTotal = 256 * 1024 * 1024
  /// A WebSocket peer that was silent for so long is pinged; a pong, any message, and what it takes
  /// of what is sent are signs of life.
  package var ping = Duration.seconds(20)
  /// A WebSocket peer that was silent for so long is closed with 4202.
  package var silence = Duration.seconds(35)
  /// How long a closing WebSocket connection may take to send what waits.
  package var closeTimeout = Duration.seconds(5)
  /// Bytes that wait to be sent to a client before nothing more is read from it, until a quarter of
  /// it waits.
  package var highWater = 256 << 10
  /// A client that takes nothing of so much for so long is closed with 4201.
  package var stallTimeout = Duration.seconds(10)

  /// Is told of each request that is refused: its status, the reason as the answer has it, what
  /// would let the request in, and whose it was, as far as that is known. Called on the loop.
  package var onRefused:
    @Sendable (_ status: Int, _ reason: String, _ hint: String?, _ address: String?) -> Void = {
      _, _, _, _ in
    }

  package init(host: String = "127.0.0.1", port: Int, webRoot: String? = nil) {
    self.host = host
    self.port = port
    self.webRoot = webRoot
  }
}

extension SocketServerConfiguration {
  /// What a prefix must be, for a message.
  package static let prefixForm =
    "a path such as /app, of letters, digits and -._~ between slashes, with none at its end"

  /// Whether everything can be served below such a path.
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

  /// Throws the first thing that cannot be served with.
  func check() throws(SocketError) {
    guard prefix.isEmpty || Self.isPrefix(prefix) else {
      throw SocketError(.invalid, "the prefix must be \(Self.prefixForm), not \(quoted(prefix))")
    }
    for name in handshakeHeaders where name.isEmpty || !name.utf8.allSatisfy(isTokenByte) {
      throw SocketError(.invalid, "\(quoted(name)) is no name of a header field")
    }
    for (name, value) in headers + [("Content-Security-Policy", contentSecurityPolicy)] {
      let isField = !name.isEmpty && name.utf8.allSatisfy(isTokenByte)
      guard isField, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw SocketError(.invalid, "\(quoted(name)): \(quoted(value)) is no header field")
      }
    }
  }
}
