import WayRPC
import WayValues

extension BridgeClient {
  /// The subprotocol with which sessions are opened.
  private static let subprotocol = "waybridge.v1"

  /// Connects and opens a session, or joins one.
  ///
  /// Hosts may be asked for pages before this returns. Throws ``CallError``: 2503 when there is no
  /// server at the address or it refuses, -32602 when the address, a host or a method's name is
  /// wrong, and what the server answers to `session.open` (2401 for a wrong ``Join``, 2404 for a
  /// page that is not on the stack, 2429 for a full session).
  ///
  /// - Parameters:
  ///   - url: `ws://HOST:PORT/bridge`.
  ///   - options: what the client says of itself, and what it hosts.
  public static func connect(
    to url: String, session options: SessionOptions
  ) async throws(CallError) -> BridgeClient {
    let client = try await makeOnLoop()
    do {
      try await client.prepare(options)
      try await client.connect(url, subprotocol: subprotocol)
      try await client.hello(options)
    } catch {
      await client.close()
      throw error
    }
    return client
  }

  /// The same over a connection in memory, for tests.
  package func open(_ options: SessionOptions) async throws(CallError) {
    try prepare(options)
    try await hello(options)
  }

  private func prepare(_ options: SessionOptions) throws(CallError) {
    for name in options.methods.keys { try Self.checkMethodName(name) }
    methods = options.methods
    hosts = HostTable(options.hosts)
    ownPage = options.page
  }

  private func hello(_ options: SessionOptions) async throws(CallError) {
    let answer = try await perform("session.open", options.value)
    guard let session = Session(answer) else { throw .malformed("session.open", answer) }
    self.session = session
    maxMessage = session.limits["maxMessage"]?.integer.flatMap { Int(exactly: $0) } ?? .max
  }
}
