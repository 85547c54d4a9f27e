import WayRPC
import WaySockets
import WayTransport
@_exported import WayValues

/// A connection to a bridge: plain JSON-RPC calls, each answered exactly once.
///
/// Runs on a thread of its own, which ends with the connection: whichever side closes that. A client that is let go of
/// stays connected, so every client needs ``close()``. Its methods may be called from anywhere.
public actor BridgeClient: MessageReceiver {
  private typealias Completion = (Result<Value, RPCError>) -> Void

  private nonisolated let loop: SocketLoop
  private nonisolated let executor: UnownedSerialExecutor
  private let decoder = MessageDecoder()
  private let onProgress: @Sendable (Value) -> Void
  private var channel: (any MessageChannel)?
  private var pending = PendingCalls<Completion>(limit: 65_536)
  private var writer = MessageWriter()
  private var lastCall = 0
  private var ids: [Int: RequestID] = [:]
  private var onClosed: [CheckedContinuation<Void, Never>] = []

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  private init(loop: SocketLoop, onProgress: @escaping @Sendable (Value) -> Void) {
    self.loop = loop
    self.onProgress = onProgress
    executor = loop.asUnownedSerialExecutor()
  }

  /// Connects to `ws://HOST:PORT/bridge`. Throws when there is no server or it refuses.
  ///
  /// - Parameters:
  ///   - subprotocol: `waybridge.v1` to open a session; nil for plain JSON-RPC.
  ///   - onProgress: gets the params of every `$/progress`, `{id, value}`, on the client's loop.
  public static func connect(
    to url: String, subprotocol: String? = nil,
    onProgress: @escaping @Sendable (Value) -> Void = { _ in }
  ) async throws -> BridgeClient {
    let loop = try SocketLoop.start()
    let client = BridgeClient(loop: loop, onProgress: onProgress)
    do {
      try await SocketClient.connect(url: url, subprotocol: subprotocol, on: loop) { channel in
        client.assumeIsolated { $0.channel = channel }
        return client
      }
    } catch {
      await loop.shutdown()
      throw error
    }
    return client
  }

  /// Calls a method and waits for its answer. Throws ``CallError``: what the other side answered, 2599 where the
  /// connection closed first, or 2503 where it was closed already and nothing was sent. Cancelling the task sends `$/cancelRequest`; the answer is still awaited.
  public func request(_ method: String, _ params: Value? = nil) async throws -> Value {
    lastCall += 1
    let call = lastCall
    let result: Result<Value, RPCError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        send(call, method, params) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      Task { await self.cancel(call) }
    }
    ids[call] = nil
    switch result {
    case .success(let value): return value
    case .failure(let error):
      throw CallError(code: error.code, message: error.message, data: error.data)
    }
  }

  /// Closes the connection and returns when it is gone, with its thread; calls that wait fail. May be called again.
  public func close() async {
    if let channel {
      channel.close(.normal, "")
      await withCheckedContinuation { onClosed.append($0) }
    }
    await loop.shutdown()
  }
}

extension BridgeClient {
  private func send(
    _ call: Int, _ method: String, _ params: Value?, _ completion: @escaping Completion
  ) {
    guard let channel else { return completion(.failure(Self.notSent)) }
    let id: RequestID
    do {
      id = try pending.add(completion)
    } catch {
      return completion(.failure(error))
    }
    do {
      try writer.request(id, method, params)
    } catch {
      _ = pending.take(id)
      return completion(.failure(RPCError(.invalidParams, "The params cannot be sent: \(error)")))
    }
    ids[call] = id
    channel.send(writer.bytes.span.bytes, as: .text)
  }

  private func cancel(_ call: Int) {
    guard let id = ids[call], pending[id] != nil else { return }
    guard (try? writer.notification("$/cancelRequest", ["id": id.value])) != nil else { return }
    channel?.send(writer.bytes.span.bytes, as: .text)
  }

  package nonisolated func receive(_ message: RawSpan, as kind: MessageKind) {
    assumeIsolated { client in
      switch client.decoder.decode(message) {
      case .message(let message): client.take(message)
      case .batch(let messages): for message in messages { client.take(message) }
      case .malformed: client.channel?.close(.notJSONRPC, "The server sent what is not JSON-RPC")
      }
    }
  }

  package nonisolated func closed(_ code: UInt16?) {
    assumeIsolated { client in
      client.channel = nil
      for completion in client.pending.drain() { completion(.failure(Self.closed(code))) }
      for continuation in client.onClosed { continuation.resume() }
      client.onClosed = []
      // The loop serves this one connection.
      Task { [loop = client.loop] in await loop.shutdown() }
    }
  }

  private func take(_ message: Message) {
    switch message {
    case .response(let response): pending.take(response.id)?(response.result)
    case .notification(let notification):
      if notification.method == "$/progress", let params = notification.params {
        onProgress(params)
      }
    case .request(let request):
      writer.error(
        request.id, RPCError(.methodNotFound, "This client has no methods: it only calls"))
      channel?.send(writer.bytes.span.bytes, as: .text)
    case .invalid: break
    }
  }

  private static let notSent = RPCError(
    .unavailable, "The connection is closed; the call was not sent")

  private static func closed(_ code: UInt16?) -> RPCError {
    RPCError(
      .outcomeUnknown,
      "The connection closed\(code.map { " with code \($0)" } ?? "") before the answer came")
  }
}
