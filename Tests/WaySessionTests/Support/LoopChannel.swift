import Synchronization
import WayRPC
import WaySession
import WayTransport
import WayValues

/// A plain connection that records what it is sent. A test uses it on the loop, between other work
/// of the loop.
final class LoopChannel: MessageChannel {
  private struct LoopChannelState {
    var receiver: (any MessageReceiver)?
    var messages: [Value] = []
  }

  let id = ChannelIDs.make()
  let loop: any EventLoop
  private let state = Mutex(LoopChannelState())

  /// Connects to a bridge, and begins a session. Call it on the loop.
  init(to bridge: InMemoryBridge) {
    loop = bridge.server.loop
    let receiver = ConnectionAcceptor(bridge.sessionServer).accept(self, Handshake())
    attach(receiver)
    call("$/ping", "{}")
  }

  /// What the channel was sent, as JSON.
  var messages: [Value] { state.withLock { $0.messages } }

  /// The params of the notifications with a method that it was sent.
  func notifications(_ method: String) -> [Value] {
    messages.filter { $0["method"] == .string(method) }.map { $0["params"] ?? .null }
  }

  /// Sends a request to the bridge, which handles it before this returns. Call it on the loop.
  func call(_ method: String, _ params: String) {
    let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    receiver?.receive(Array(text.utf8).span.bytes, as: .text)
  }

  /// Ends the connection. Call it on the loop.
  func end() { receiver?.closed(nil) }

  private var receiver: (any MessageReceiver)? { state.withLock { $0.receiver } }

  func attach(_ receiver: any MessageReceiver) { state.withLock { $0.receiver = receiver } }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard let value = try? JSON.parse(message) else { return }
    state.withLock { $0.messages.append(value) }
  }

  var bufferedBytes: Int { 0 }
  func pause() {}
  func resume() {}
  func close(_ code: CloseCode, _ reason: String) {}
}
