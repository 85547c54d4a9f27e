import WayRPC
import WayTransport
import WayValues

/// What a peer sees on its connection.
package enum PeerEvent: Sendable {
  case text([UInt8])
  case binary([UInt8])
  case closed(UInt16?)
}

/// Where scenarios run: a bridge in memory, or one behind a socket.
package protocol PeerServer: Sendable {
  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel
  /// Lets time pass.
  func advance(by time: Duration) async throws
  /// Ends it in the midst of what it does, and starts it again with what its store has.
  func restart() async throws
  func stop() async
}

extension PeerServer {
  package func restart() async throws {
    throw TranscriptFailure(description: "the server has no store")
  }
}

/// A raw client for tests: it sends bytes and awaits what comes.
package final class Peer: MessageReceiver {
  private let events = Mailbox<PeerEvent>()
  private let channel = Mailbox<any MessageChannel>()
  private let server: any PeerServer

  private init(_ server: any PeerServer) {
    self.server = server
  }

  package static func connect(
    to server: any PeerServer, subprotocol: String?
  ) async throws -> Peer {
    let peer = Peer(server)
    peer.channel.put(try await server.connect(subprotocol: subprotocol, receiver: peer))
    return peer
  }

  package func receive(_ message: RawSpan, as kind: MessageKind) {
    let bytes = message.withUnsafeBytes { [UInt8]($0) }
    events.put(kind == .text ? .text(bytes) : .binary(bytes))
  }

  package func closed(_ code: UInt16?) {
    events.put(.closed(code))
  }

  package func send(_ bytes: [UInt8], as kind: MessageKind = .text) async throws {
    try await onChannel { $0.send(bytes.span.bytes, as: kind) }
  }

  package func send(_ value: Value) async throws {
    try await send(Array(try JSON.text(value).utf8))
  }

  package func close() async throws { try await close(.normal) }

  package func close(_ code: UInt16) async throws { try await close(CloseCode(rawValue: code)) }

  package func close(_ code: CloseCode) async throws {
    try await onChannel { $0.close(code, "") }
  }

  package func next() async throws -> PeerEvent {
    try await events.take()
  }

  private func onChannel(_ work: @escaping @Sendable (any MessageChannel) -> Void) async throws {
    let channel = try await channel.take()
    await OnLoop(loop: channel.loop).run { work(channel) }
    self.channel.put(channel)
  }
}

/// Runs work on a loop.
private actor OnLoop {
  private nonisolated let loop: any EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(loop: any EventLoop) {
    self.loop = loop
  }

  func run(_ work: @Sendable () -> Void) {
    work()
  }
}
