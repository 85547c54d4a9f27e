import Synchronization
import TestSupport
import WayRPC
import WayTransport
import Waybridge
import WaybridgeClient

/// A server in memory that sends only the messages of the test, connected to a ``BridgeClient``.
final class ScriptedServer: ChannelAcceptor, MessageReceiver {
  let loop = MemoryLoop()
  private let received = Mailbox<Value>()
  private let channel = Mutex<(any MessageChannel)?>(nil)
  /// The codes with which connections closed.
  let closeCodes = Mailbox<UInt16?>()
  private let loopEnded = Mailbox<Void>()

  /// Opens a client's session with the id `s`, the client `c`, the token `t` and the epoch `e`.
  /// `canResume` sets that capability.
  func openClient(
    _ options: BridgeClient.SessionOptions = .init(name: "test", version: "1"),
    maxMessage: Int64 = 1 << 20, maxDepth: Int64 = 128, canResume: Bool = false
  ) async throws -> BridgeClient {
    let client = connectClient()
    let opening = Task { try await client.open(options) }
    let openRequest = try await next()
    try await send([
      "jsonrpc": "2.0", "id": openRequest["id"] ?? .null,
      "result": [
        "session": "s", "client": "c", "token": "t", "joinToken": "j", "epoch": "e",
        "limits": ["maxMessage": .integer(maxMessage), "maxDepth": .integer(maxDepth)],
        "capabilities": canResume ? ["resume"] : [],
      ],
    ])
    try await opening.value
    return client
  }

  /// Returns a client that has not sent anything.
  func connectClient() -> BridgeClient {
    let connector = ClientMemoryConnector(
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
    closeCodes.put(code)
  }

  /// Returns the client's next message.
  func next() async throws -> Value {
    try await received.receive()
  }

  /// Sends a message. A request to a host that names no host addresses the page's whole scheme, or
  /// only the task's URI.
  func send(_ message: Value) async throws {
    let text = try JSON.text(Self.addingHost(message))
    try await withChannel { $0.send(Array(text.utf8).span.bytes, as: .text) }
  }

  private static func addingHost(_ message: Value) -> Value {
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

  /// Responds to a request of the client.
  func respond(_ request: Value, _ result: Value) async throws {
    try await send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
  }

  func close(_ code: CloseCode) async throws {
    try await withChannel { $0.close(code, "") }
  }

  private func withChannel(_ work: @escaping @Sendable (any MessageChannel) -> Void) async throws {
    guard let channel = channel.withLock({ $0 }) else {
      throw TranscriptFailure(description: "no client has connected")
    }
    await withCheckedContinuation { continuation in
      loop.execute {
        work(channel)
        continuation.resume()
      }
    }
  }
}
