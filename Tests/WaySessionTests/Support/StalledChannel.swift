import Synchronization
import TestSupport
import WaySession
import WayTransport

/// A plain connection whose peer does not read: the test says how much waits to be sent.
final class StalledChannel: MessageChannel {
  private struct State {
    var sent = 0
    var buffered = 0
    var closed: CloseCode?
  }

  let id = UInt64.max
  let loop: any EventLoop
  private let state = Mutex(State())
  private let receiver = Mailbox<any MessageReceiver>()

  /// Connects to a bridge.
  init(to bridge: InMemoryBridge) {
    loop = bridge.server.loop
    let acceptor = bridge.hub
    loop.execute { self.receiver.put(acceptor.accept(self, Handshake())) }
  }

  /// The bridge gets this message.
  func receive(_ text: String) async throws {
    let receiver = try await receiver.take()
    self.receiver.put(receiver)
    loop.execute { receiver.receive(Array(text.utf8).span.bytes, as: .text) }
  }

  var sent: Int { state.withLock { $0.sent } }
  var closed: CloseCode? { state.withLock { $0.closed } }

  var bufferedBytes: Int {
    get { state.withLock { $0.buffered } }
    set { state.withLock { $0.buffered = newValue } }
  }

  func attach(_ receiver: any MessageReceiver) {}

  func send(_ message: RawSpan, as kind: MessageKind) {
    state.withLock { $0.sent += 1 }
  }

  func pause() {}
  func resume() {}

  func close(_ code: CloseCode, _ reason: String) {
    state.withLock { $0.closed = code }
  }
}
