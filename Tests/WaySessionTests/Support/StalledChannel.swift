import Synchronization
import TestSupport
import WaySession
import WayTransport

/// A plain connection whose peer does not read. The test sets the number of unsent bytes.
final class StalledChannel: MessageChannel {
  private struct StalledChannelState {
    var sentCount = 0
    var buffered = 0
    var closeCode: CloseCode?
  }

  let id = UInt64.max
  let loop: any EventLoop
  private let state = Mutex(StalledChannelState())
  private let receiver = Mailbox<any MessageReceiver>()

  /// Connects to a bridge.
  init(to bridge: InMemoryBridge) {
    loop = bridge.server.loop
    let acceptor = ConnectionAcceptor(bridge.sessionServer)
    loop.execute { self.receiver.put(acceptor.accept(self, Handshake())) }
  }

  /// Delivers a message to the bridge.
  func deliver(_ text: String) async throws {
    let receiver = try await receiver.receive()
    self.receiver.put(receiver)
    loop.execute { receiver.receive(Array(text.utf8).span.bytes, as: .text) }
  }

  var sentCount: Int { state.withLock { $0.sentCount } }
  var closeCode: CloseCode? { state.withLock { $0.closeCode } }

  var bufferedBytes: Int {
    get { state.withLock { $0.buffered } }
    set { state.withLock { $0.buffered = newValue } }
  }

  func attach(_ receiver: any MessageReceiver) {}

  func send(_ message: RawSpan, as kind: MessageKind) {
    state.withLock { $0.sentCount += 1 }
  }

  func pause() {}
  func resume() {}

  func close(_ code: CloseCode, _ reason: String) {
    state.withLock { $0.closeCode = code }
  }
}
