import Synchronization
import TestSupport
import WayTransport
import WayValues
import WaybridgeClient

/// Makes connections that the test cuts, and others that break on their own.
final class FlakyConnector: ClientConnector {
  private struct FlakyConnectorState {
    var channel: FlakyChannel?
    var isReachable = true
    var connections = 0
    /// The number of frames that each connection carries before it breaks.
    var lives: [Int] = []
  }

  private let base: any ClientConnector
  private let loop: any EventLoop
  private let state: Mutex<FlakyConnectorState>

  /// Makes the first connections break after this many frames, counted in both directions.
  init(_ base: any ClientConnector, on loop: any EventLoop, breakingAfter lives: [Int] = []) {
    self.base = base
    self.loop = loop
    state = Mutex(FlakyConnectorState(lives: lives))
  }

  /// The number of connections so far.
  var connections: Int { state.withLock { $0.connections } }

  /// Whether the server can be reached.
  var isReachable: Bool {
    get { state.withLock { $0.isReachable } }
    set { state.withLock { $0.isReachable = newValue } }
  }

  func connect(
    _ accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(ConnectFailure) {
    guard isReachable else {
      throw ConnectFailure(CallError(.unavailable, "no server"), isFinal: false)
    }
    try await base.connect { [self] channel in
      let flaky = state.withLock { held in
        held.connections += 1
        let life = held.lives.isEmpty ? Int.max : held.lives.removeFirst()
        let flaky = FlakyChannel(channel, remainingFrames: life)
        held.channel = flaky
        return flaky
      }
      flaky.attach(accept(flaky))
      return flaky
    }
  }

  /// Cuts the connection like a network failure: data in flight is lost.
  func disconnect(_ code: UInt16 = 1006) async {
    let channel = state.withLock { $0.channel }
    await withCheckedContinuation { continuation in
      loop.execute {
        channel?.close(CloseCode(rawValue: code), "")
        continuation.resume()
      }
    }
  }
}

/// A connection that breaks after a number of frames; the first frame beyond it is lost. Confined
/// to its loop.
final class FlakyChannel: MessageChannel, MessageReceiver, @unchecked Sendable {
  private let base: any MessageChannel
  private var receiver: (any MessageReceiver)?
  private var remainingFrames: Int

  init(_ base: any MessageChannel, remainingFrames: Int) {
    self.base = base
    self.remainingFrames = remainingFrames
  }

  var id: UInt64 { base.id }
  var loop: any EventLoop { base.loop }
  var bufferedBytes: Int { base.bufferedBytes }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }
  func pause() { base.pause() }
  func resume() { base.resume() }
  func close(_ code: CloseCode, _ reason: String) { base.close(code, reason) }

  func send(_ message: RawSpan, as kind: MessageKind) {
    if consumeFrame() { base.send(message, as: kind) }
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    if consumeFrame() { receiver?.receive(message, as: kind) }
  }

  func closed(_ code: UInt16?) {
    receiver?.closed(code == 1006 ? nil : code)
    receiver = nil
  }

  private func consumeFrame() -> Bool {
    guard remainingFrames > 0 else {
      base.close(CloseCode(rawValue: 1006), "")
      return false
    }
    remainingFrames -= 1
    return true
  }
}
