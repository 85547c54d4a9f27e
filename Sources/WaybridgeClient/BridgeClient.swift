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
/// Each connection has a thread of its own, which ends with it, whichever side closes. A client
/// that is let go of stays connected, so every client needs ``close()``. All methods may be called
/// from anywhere. Hosts, and the closures of tasks and methods, run on the main actor or another
/// with an executor of its own, where they say so, else on the client's thread, as do callbacks
/// such as `onShown`: there they must not block.
///
/// Every call settles exactly once: with its answer, or by throwing ``CallError``, which is 2503
/// where the connection was closed already and nothing was sent, and 2599 where it closed before
/// the answer came. Cancelling the Swift task of a call sends `$/cancelRequest`; the answer is
/// still awaited.
public actor BridgeClient {
  package nonisolated let loop: any EventLoop
  private nonisolated let executor: UnownedSerialExecutor
  private let endLoop: @Sendable () async -> Void
  let decoder = MessageDecoder()
  var writer = MessageWriter()
  var channel: (any MessageChannel)?
  /// The largest message, in bytes, that the server takes, where it has said so.
  var maxMessage = Int.max
  var pending = PendingCalls<PendingCall>(limit: 65_536)
  /// What the server asked and this client works on.
  var serving = CallsInFlight<ServedCall>(limit: 1024)
  var hosts = HostTable()
  var pages = HostedPages()
  var methods: [String: Method] = [:]
  var streams = EventStreams()
  /// The page that this client runs in.
  var ownPage: String?
  var isClosing = false
  private var end: ConnectionEnd?
  private var awaitingEnd: [CheckedContinuation<Void, Never>] = []

  /// The session, once it is open; nil on a connection of plain JSON-RPC.
  public internal(set) var session: Session?

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  /// A client without connection; `endLoop` is called when that has ended.
  package init(loop: any EventLoop, endLoop: @escaping @Sendable () async -> Void) {
    self.loop = loop
    self.endLoop = endLoop
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
    let client = try await makeOnLoop()
    do {
      try await client.connect(url, subprotocol: nil)
    } catch {
      await client.close()
      throw error
    }
    return client
  }

  static func makeOnLoop() async throws(CallError) -> BridgeClient {
    do throws(SocketError) {
      let loop = try SocketLoop.start()
      return BridgeClient(loop: loop) { await loop.shutdown() }
    } catch {
      throw CallError(error)
    }
  }

  /// Connects over a socket.
  func connect(_ url: String, subprotocol: String?) async throws(CallError) {
    guard let loop = loop as? SocketLoop else { return }
    do throws(SocketError) {
      try await SocketClient.connect(
        url: url, subprotocol: subprotocol, maxMessage: Self.maxIncoming, on: loop
      ) { channel in
        self.assumeIsolated { $0.channel = channel }
        return self
      }
    } catch {
      throw CallError(error)
    }
  }

  /// Bytes; a larger message of the server closes the connection with 1009. Servers send at most 4
  /// MiB, unless told otherwise.
  private static let maxIncoming = 64 << 20

  /// Connects to a bridge in memory, for tests.
  package func attach(_ channel: any MessageChannel) {
    self.channel = channel
  }

  /// Closes the connection with 1000 and returns when it is gone, with its thread. Calls that wait
  /// fail with 2599, and hosts are told to close their pages. May be called again, and from several
  /// tasks.
  public func close() async {
    isClosing = true
    channel?.close(.normal, "")
    _ = await ended()
    await endLoop()
  }

  /// Returns when the connection is gone, whichever side closed it.
  @discardableResult
  public func ended() async -> ConnectionEnd {
    if channel != nil { await withCheckedContinuation { awaitingEnd.append($0) } }
    return end ?? ConnectionEnd(code: nil)
  }

  /// Settles all that depends on the connection.
  func connectionEnded(_ code: UInt16?) {
    channel = nil
    let end = ConnectionEnd(code: code)
    self.end = end
    for call in pending.drain() { call.settle(.failure(end.error)) }
    for call in serving.drain() { call.cancel() }
    streams.end(isClosing ? nil : end.error)
    closeHostedPages()
    for continuation in awaitingEnd { continuation.resume() }
    awaitingEnd = []
    // The loop serves this one connection.
    Task { [endLoop] in await endLoop() }
  }
}

extension CallError {
  fileprivate init(_ error: SocketError) {
    switch error.kind {
    case .invalid: self = .invalidParams(error.description)
    default: self.init(.unavailable, error.description)
    }
  }
}
