import WayRPC
import WaySockets
import WayTransport
import WayValues

/// A client of a bridge: it opens pages and runs tasks wherever they are, and hosts its own.
///
/// ```swift
/// let client = try await BridgeClient.connect(
///   to: "ws://127.0.0.1:8080/bridge",
///   session: BridgeClient.SessionOptions(name: "shell", version: "1.0"))
/// print(try await client.open("native://address/list", ["pick": true]).kind)
/// await client.close()
/// ```
///
/// Each client has a thread of its own, which ends when the client closes or the server closes it
/// for good. A client that is let go of stays connected, so every client needs ``close()``. All
/// methods may be called from anywhere. Hosts, and the closures of tasks and methods, run on the main
/// actor or another with an executor of its own, where they say so, else on the client's thread, as
/// do callbacks such as `onShown`: there they must not block.
///
/// A connection that is lost is made again, and the session goes on (``SessionOptions/reconnect``):
/// calls notice nothing of it, and those made meanwhile wait. ``connectionStates()`` tells of it.
///
/// Every call settles exactly once: with its answer, or by throwing ``CallError``, which is 2503
/// where it was not sent when the client ended, and 2599 where it was and its answer did not come.
/// Cancelling the Swift task of a call sends `$/cancelRequest`; the answer is still awaited.
public actor BridgeClient {
  package nonisolated let loop: any EventLoop
  private nonisolated let executor: UnownedSerialExecutor
  private let endLoop: @Sendable () async -> Void
  let line: Line
  var writer = MessageWriter()
  /// The largest message, in bytes, that the server takes, where it has said so.
  var maxMessage = Int.max
  var pending = PendingCalls<PendingCall>(limit: 65_536)
  /// What the server asked and this client works on.
  var serving = ServedCalls()
  var hosts = BridgeClientHosts()
  var pages = HostedPages()
  /// The `page.sync` that waits for its answer.
  var comparison: RequestID?
  var methods: [String: Method] = [:]
  var streams = EventStreams()
  /// The page that this client runs in.
  var ownPage: String?
  /// What the session was opened with; nil on a connection of plain JSON-RPC.
  var options: SessionOptions?
  /// Waits for the first connection, and its session.
  var opening: CheckedContinuation<Result<Void, CallError>, Never>?
  var states = StateReaders()
  private var isClosing = false
  private var end: ClientConnectionEnd?
  private var awaitingEnd: [CheckedContinuation<Void, Never>] = []

  /// The session, once it is open, and the one that has taken its place where it was lost; nil on a
  /// connection of plain JSON-RPC.
  public internal(set) var session: Session?

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  /// A client without connection; `endLoop` is called when there will be none any more.
  package init(
    loop: any EventLoop, connector: any ClientConnector,
    endLoop: @escaping @Sendable () async -> Void
  ) {
    self.loop = loop
    self.endLoop = endLoop
    line = Line(connector, on: loop)
    executor = loop.asUnownedSerialExecutor()
  }

  /// Connects without subprotocol: plain JSON-RPC 2.0, in an anonymous session that ends with the
  /// connection.
  ///
  /// Throws ``CallError`` 2503 when there is no server at the address or it refuses, -32602 when it
  /// is no address.
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

  /// A client with a loop of its own.
  static func make(for url: String, subprotocol: String?) throws(CallError) -> BridgeClient {
    do throws(SocketError) {
      let loop = try SocketLoop.start()
      let connector = SocketConnector(url: url, subprotocol: subprotocol, loop: loop)
      return BridgeClient(loop: loop, connector: connector) { await loop.shutdown() }
    } catch {
      throw CallError(error)
    }
  }

  /// Connects, and opens the session that `options` describe; without them there is none.
  package func open(_ options: SessionOptions?) async throws(CallError) {
    if let options { try prepare(options) }
    let result: Result<Void, CallError> = await withCheckedContinuation { continuation in
      opening = continuation
      line.begin(options?.reconnect ?? .never, for: self)
    }
    try result.get()
  }

  /// Closes the connection with 1000 and returns when it is gone, with its thread. The client leaves
  /// its session: calls that wait fail with 2599, or 2503 where they were not sent, and hosts are told
  /// to close their pages. A client that has no connection just now is kept by the server for as long
  /// as it might come back. May be called again, and from several tasks.
  public func close() async {
    isClosing = true
    line.close()
    _ = await ended()
    await endLoop()
  }

  /// Returns when the connection is gone, whichever side closed it, and no other will be made: where
  /// the client connects again by itself, that may be never.
  @discardableResult
  public func ended() async -> ClientConnectionEnd {
    if !line.isOver { await withCheckedContinuation { awaitingEnd.append($0) } }
    return end ?? ClientConnectionEnd(code: nil)
  }

  /// What becomes of the connection, from what it is now on; let go of it when it does not matter any
  /// more. Of a reader that does not read, the latest 256 wait.
  public func connectionStates() -> ConnectionStates {
    states.add { [weak self] number in
      guard let self else { return }
      Task { await self.forgetReader(number) }
    }
  }

  /// Looks how the connection is, now: for an app that hears from its system that the network is back, or
  /// that it is in sight again. A client that waits before it connects again does so at once; one that
  /// is connected asks the server whether it is there, and takes the connection for lost after 5 s
  /// without an answer. Returns before that; ``connectionStates()`` tells what comes of it.
  public func checkConnection() {
    line.hasten()
  }

  private func forgetReader(_ number: Int) {
    states.remove(number)
  }

  /// Settles all that depends on the connection. `error` tells why there was none.
  func settle(_ end: ClientConnectionEnd, _ error: CallError?) {
    self.end = end
    opening?.resume(returning: .failure(error ?? end.error))
    opening = nil
    for call in pending.drain() {
      call.settle(.failure(call.isSent ? end.error : end.notSent))
    }
    for call in serving.drain() { call.cancel() }
    streams.end(isClosing ? nil : end.error)
    closeHostedPages()
    states.tell(.ended(end))
    for continuation in awaitingEnd { continuation.resume() }
    awaitingEnd = []
    // The loop serves this one client.
    Task { [endLoop] in await endLoop() }
  }
}
