/// What a ``SocketServer`` is told at its start.
package struct SocketServerConfiguration: Sendable {
  /// `127.0.0.1`, `localhost` or `::1`; anything else is refused.
  package var host: String
  /// 0 takes any free port.
  package var port: Int
  /// The folder whose files are served; without one, paths that are nobody's are 404.
  package var webRoot: String?
  /// Files that are part of the program, by the paths that they are served at; they go before those
  /// of the folder.
  package var embeddedFiles: [String: EmbeddedFile] = [:]
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

  /// Is told of each request that is refused: its status, and the reason as the answer has it.
  /// Called on the loop.
  package var onRefused: @Sendable (Int, String) -> Void = { _, _ in }

  package init(host: String = "127.0.0.1", port: Int, webRoot: String? = nil) {
    self.host = host
    self.port = port
    self.webRoot = webRoot
  }
}
