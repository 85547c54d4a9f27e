import WayRPC
import WaySockets
import WayTransport
import WayValues

/// A client of a bridge. It opens pages and runs tasks on any host, and hosts its own.
///
/// ```swift
/// let client = try await BridgeClient.connect(
///   to: "ws://127.0.0.1:8080/bridge",
///   session: BridgeClient.SessionOptions(name: "shell", version: "1.0"))
/// print(try await client.open("native://address/list", ["pick": true]).kind)
/// await client.close()
/// ```
///
/// Each client has its own thread, which ends when the client closes or the server closes the
/// connection for good. A client stays connected after its last reference is released, so every
/// client needs ``close()``.
///
/// All methods may be called from any thread. Hosts, and the closures of tasks and methods, run on
/// the main actor or on an actor with its own executor if they are isolated to one. Otherwise they
/// run on the client's thread, as do callbacks such as `onShown`; code there must not block.
///
/// After a lost connection the client reconnects and resumes its session
/// (``SessionOptions/reconnect``). Calls continue, and calls made meanwhile wait.
/// ``connectionStates()`` reports these changes.
///
/// Every call settles exactly once: with its response, or by throwing ``CallError``. The code is
/// 2503 if the call was not sent before the client ended, and 2599 if it was sent but no response
/// arrived. Cancelling the Swift task of a call sends `$/cancelRequest`; the call still waits for
/// the response. If the server cannot be reached, it settles after one second.
public actor BridgeClient {
  package nonisolated let loop: any EventLoop
  private nonisolated let executor: UnownedSerialExecutor
  private let endLoop: @Sendable () async -> Void
  let connection: ConnectionManager
  var writer = MessageWriter()
  /// The largest message, in bytes, that the server accepts; `Int.max` if the server has not stated
  /// a limit.
  var maxMessage = Int.max
  /// The largest number of nested arrays and objects, including the message itself, that the server
  /// reads.
  var maxDepth = JSON.maxDepth
  var pendingCalls = PendingCalls<BridgeClientCall>(limit: 65_536)
  /// Requests of the server that this client is working on.
  var serverRequests = ServerRequests()
  var hosts = BridgeClientHosts()
  /// The work of hosts for calls with an idempotency key.
  let hostKeys: ClientHostIdempotencyKeys
  var pages = HostedPageRegistry()
  /// The id of the `page.sync` request that waits for its response.
  var pageSync: RequestID?
  var methods: [String: ClientMethod] = [:]
  /// The guards of this client, by the pages.
  var leaveGuards: [String: LeaveGuard] = [:]
  var eventStreams = EventStreams()
  /// The error of a message that the server could not read, until the client resumes.
  var unreadableMessageError: CallError?
  /// The page that this client runs in.
  var ownPage: String?
  /// The options that the session was opened with; nil on a connection of plain JSON-RPC.
  var options: SessionOptions?
  /// Resumed when the first connection and its session are open, or have failed.
  var openContinuation: CheckedContinuation<Result<Void, CallError>, Never>?
  var stateStreams = ConnectionStateStreams()
  private var isClosing = false
  private var connectionEnd: ClientConnectionEnd?
  private var endContinuations: [CheckedContinuation<Void, Never>] = []

  /// The open session, or the one that replaced it after it was lost; nil before the session is
  /// open and on a connection of plain JSON-RPC.
  public internal(set) var session: SessionDescription?

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  /// Creates a client without a connection. `endLoop` is called when no further connection will be
  /// made.
  package init(
    loop: any EventLoop, connector: any ClientConnector,
    endLoop: @escaping @Sendable () async -> Void
  ) {
    self.loop = loop
    self.endLoop = endLoop
    connection = ConnectionManager(connector, on: loop)
    hostKeys = ClientHostIdempotencyKeys(on: loop) { loop.nanoseconds }
    executor = loop.asUnownedSerialExecutor()
  }

  /// Connects without a subprotocol: plain JSON-RPC 2.0, in an anonymous session that ends with the
  /// connection.
  ///
  /// Throws ``CallError`` 2503 if there is no server at the address or the server rejects the
  /// connection, -32602 if the address is invalid.
  ///
  /// - Parameter url: `ws://HOST:PORT/bridge`.
  public static func connect(to url: String) async throws(CallError) -> BridgeClient {
    let client = try make(for: url, subprotocol: nil)
    do {
      try await client.open(nil)
    } catch {
      await client.close()
      throw error
    }
    return client
  }

  /// Creates a client with its own loop.
  static func make(for url: String, subprotocol: String?) throws(CallError) -> BridgeClient {
    do throws(SocketError) {
      let loop = try SocketLoop.start()
      let connector = SocketConnector(url: url, subprotocol: subprotocol, loop: loop)
      return BridgeClient(loop: loop, connector: connector) { await loop.shutdown() }
    } catch {
      throw CallError(error)
    }
  }

  /// Connects, and opens the session that `options` describe; without options there is no session.
  package func open(_ options: SessionOptions?) async throws(CallError) {
    if let options { try prepare(options) }
    let result: Result<Void, CallError> = await withCheckedContinuation { continuation in
      openContinuation = continuation
      connection.begin((options?.reconnect ?? .never).limit, for: self)
    }
    try result.get()
  }

  /// Closes the connection with 1000 and returns when the connection and its thread have ended.
  ///
  /// The client leaves its session: waiting calls fail with 2599, or 2503 if they were not sent,
  /// and hosts receive a request to close their pages. If the client has no connection at this moment, the
  /// server keeps it as long as it could still reconnect. May be called several times and from
  /// several tasks.
  public func close() async {
    isClosing = true
    connection.close()
    _ = await waitUntilEnded()
    await endLoop()
  }

  /// Returns when the connection has closed, whichever side closed it, and no further connection
  /// will be made. If the client reconnects automatically, that may never happen.
  @discardableResult
  public func waitUntilEnded() async -> ClientConnectionEnd {
    if !connection.hasEnded { await withCheckedContinuation { endContinuations.append($0) } }
    return connectionEnd ?? ClientConnectionEnd(code: nil)
  }

  /// The states of the connection, beginning with the current one. Release the stream when it is no
  /// longer needed. If its reader is slow, the latest 256 states are kept.
  public func connectionStates() -> ConnectionStates {
    stateStreams.add { [weak self] number in
      guard let self else { return }
      Task { await self.removeStateStream(number) }
    }
  }

  /// Checks the connection now. An app calls this when the system reports that the network is back,
  /// or that the app is visible again.
  ///
  /// A client that waits before it reconnects does so at once. A connected client pings the server
  /// and treats the connection as lost after 5 s without a response. Returns before the result is
  /// known; ``connectionStates()`` reports it.
  public func checkConnection() {
    connection.checkConnection()
  }

  private func removeStateStream(_ number: Int) {
    stateStreams.remove(number)
  }

  /// Settles everything that depends on the connection. `error` states why there was no connection.
  func settleAll(_ end: ClientConnectionEnd, _ error: CallError?) {
    self.connectionEnd = end
    openContinuation?.resume(returning: .failure(error ?? end.error))
    openContinuation = nil
    for call in pendingCalls.drain() {
      call.settle(.failure(call.isSent ? end.error : end.notSentError))
    }
    for call in serverRequests.drain() { call.cancel() }
    eventStreams.end(isClosing ? nil : end.error)
    closeHostedPages()
    stateStreams.publish(.ended(end))
    for continuation in endContinuations { continuation.resume() }
    endContinuations = []
    // The loop serves only this client.
    Task { [endLoop] in await endLoop() }
  }
}
