import WayRPC
import WayTransport
import WayValues

/// An event that a client observes on its connection.
package enum ConnectionEvent: Sendable {
  case text([UInt8])
  case binary([UInt8])
  case closed(UInt16?)
}

/// A server for test scenarios: a bridge in memory or behind a socket.
package protocol ServerFixture: Sendable {
  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel
  /// Advances the server's time.
  func advance(by time: Duration) async throws
  /// Terminates the server abruptly and restarts it with the contents of its store.
  func restart() async throws
  func stop() async
}

extension ServerFixture {
  package func restart() async throws {
    throw TranscriptFailure(description: "the server has no store")
  }
}

/// A raw client for tests: it sends bytes and receives events.
package final class RawClient: MessageReceiver {
  private let events = Mailbox<ConnectionEvent>()
  private let channel = Mailbox<any MessageChannel>()
  private let server: any ServerFixture

  private init(_ server: any ServerFixture) {
    self.server = server
  }

  package static func connect(
    to server: any ServerFixture, subprotocol: String?
  ) async throws -> RawClient {
    let peer = RawClient(server)
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

  package func next() async throws -> ConnectionEvent {
    try await events.receive()
  }

  private func onChannel(_ work: @escaping @Sendable (any MessageChannel) -> Void) async throws {
    let channel = try await channel.receive()
    await LoopRunner(loop: channel.loop).run { work(channel) }
    self.channel.put(channel)
  }
}

/// Runs work on a loop.
private actor LoopRunner {
  private nonisolated let loop: any EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(loop: any EventLoop) {
    self.loop = loop
  }

  func run(_ work: @Sendable () -> Void) {
    work()
  }
}
