import Synchronization
import TestSupport
import WayRPC
import WayTransport
import Waybridge
import WaybridgeClient

/// A server in memory that says only what a test lets it say, with a ``BridgeClient`` at its other
/// end.
final class ScriptedServer: ChannelAcceptor, MessageReceiver {
  let loop = MemoryLoop()
  private let received = Mailbox<Value>()
  private let channel = Mutex<(any MessageChannel)?>(nil)
  /// The codes with which connections closed.
  let closes = Mailbox<UInt16?>()
  private let loopEnded = Mailbox<Void>()

  /// A client whose session is open, with the id `s` of the session, as client `c`, with the token
  /// `t`, in the epoch `e`; `canResume` says so in `capabilities`.
  func open(
    _ options: BridgeClient.SessionOptions = .init(name: "test", version: "1"),
    maxMessage: Int64 = 1 << 20, canResume: Bool = false
  ) async throws -> BridgeClient {
    let client = connect()
    let opening = Task { try await client.open(options) }
    let hello = try await next()
    try await send([
      "jsonrpc": "2.0", "id": hello["id"] ?? .null,
      "result": [
        "session": "s", "client": "c", "token": "t", "joinToken": "j", "epoch": "e",
        "limits": ["maxMessage": .integer(maxMessage)],
        "capabilities": canResume ? ["resume"] : [],
      ],
    ])
    try await opening.value
    return client
  }

  /// A client that has not said anything.
  func connect() -> BridgeClient {
    let connector = MemoryClientConnector(
      to: self, Handshake(subprotocol: "waybridge.v1"), on: loop)
    return BridgeClient(loop: loop, connector: connector) { [loopEnded] in loopEnded.put(()) }
  }

  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    self.channel.withLock { $0 = channel }
    return self
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    let bytes = message.withUnsafeBytes { [UInt8]($0) }
    received.put((try? JSON.parse(bytes.span.bytes)) ?? "not JSON")
  }

  func closed(_ code: UInt16?) {
    closes.put(code)
  }

  /// The next message of the client.
  func next() async throws -> Value {
    try await received.take()
  }

  /// Sends a message. One that asks a host and does not say which means that of the page's whole
  /// scheme, or of just the task's URI.
  func send(_ message: Value) async throws {
    let text = try JSON.text(Self.choosing(message))
    try await onLoop { $0.send(Array(text.utf8).span.bytes, as: .text) }
  }

  private static func choosing(_ message: Value) -> Value {
    guard var members = message.object, var params = message["params"]?.object,
      params["host"] == nil
    else { return message }
    switch message["method"] {
    case "page.open":
      guard let uri = params["page"]?["uri"]?.string else { return message }
      params["host"] = ["scheme": .string(String(uri.prefix { $0 != ":" })), "kind": "page"]
    case "task.run":
      guard let uri = params["uri"] else { return message }
      params["host"] = ["pattern": uri, "kind": "task"]
    default: return message
    }
    members["params"] = .object(params)
    return .object(members)
  }

  /// Answers a request of the client.
  func answer(_ request: Value, _ result: Value) async throws {
    try await send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
  }

  func close(_ code: CloseCode) async throws {
    try await onLoop { $0.close(code, "") }
  }

  private func onLoop(_ work: @escaping @Sendable (any MessageChannel) -> Void) async throws {
    guard let channel = channel.withLock({ $0 }) else {
      throw TranscriptFailure(description: "nobody has connected")
    }
    await withCheckedContinuation { continuation in
      loop.execute {
        work(channel)
        continuation.resume()
      }
    }
  }
}
