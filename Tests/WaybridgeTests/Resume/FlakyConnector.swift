import Synchronization
import TestSupport
import WayTransport
import WayValues
import WaybridgeClient

/// Makes connections that a test cuts, and others that break by themselves.
final class FlakyConnector: ClientConnector {
  private struct Held {
    var channel: FlakyChannel?
    var isReachable = true
    var connections = 0
    /// How many frames each connection carries before it breaks.
    var lives: [Int] = []
  }

  private let base: any ClientConnector
  private let loop: any EventLoop
  private let held: Mutex<Held>

  /// The first connections break after so many frames, both ways together.
  init(_ base: any ClientConnector, on loop: any EventLoop, breakingAfter lives: [Int] = []) {
    self.base = base
    self.loop = loop
    held = Mutex(Held(lives: lives))
  }

  /// Connections so far.
  var connections: Int { held.withLock { $0.connections } }

  /// Whether the server can be reached.
  var isReachable: Bool {
    get { held.withLock { $0.isReachable } }
    set { held.withLock { $0.isReachable = newValue } }
  }

  func connect(
    _ accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(ConnectFailure) {
    guard isReachable else {
      throw ConnectFailure(CallError(.unavailable, "nobody there"), isFinal: false)
    }
    try await base.connect { [self] channel in
      let flaky = held.withLock { held in
        held.connections += 1
        let life = held.lives.isEmpty ? Int.max : held.lives.removeFirst()
        let flaky = FlakyChannel(channel, life: life)
        held.channel = flaky
        return flaky
      }
      flaky.attach(accept(flaky))
      return flaky
    }
  }

  /// Cuts the connection as a network does: what is under way is lost.
  func cut(_ code: UInt16 = 1006) async {
    let channel = held.withLock { $0.channel }
    await withCheckedContinuation { continuation in
      loop.execute {
        channel?.close(CloseCode(rawValue: code), "")
        continuation.resume()
      }
    }
  }
}

/// A connection that breaks once it has carried so many frames: the one that is too many is lost.
/// Confined to its loop.
final class FlakyChannel: MessageChannel, MessageReceiver, @unchecked Sendable {
  private let base: any MessageChannel
  private var receiver: (any MessageReceiver)?
  private var life: Int

  init(_ base: any MessageChannel, life: Int) {
    self.base = base
    self.life = life
  }

  var id: UInt64 { base.id }
  var loop: any EventLoop { base.loop }
  var bufferedBytes: Int { base.bufferedBytes }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }
  func pause() { base.pause() }
  func resume() { base.resume() }
  func close(_ code: CloseCode, _ reason: String) { base.close(code, reason) }

  func send(_ message: RawSpan, as kind: MessageKind) {
    if isAlive() { base.send(message, as: kind) }
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    if isAlive() { receiver?.receive(message, as: kind) }
  }

  func closed(_ code: UInt16?) {
    receiver?.closed(code == 1006 ? nil : code)
    receiver = nil
  }

  private func isAlive() -> Bool {
    guard life > 0 else {
      base.close(CloseCode(rawValue: 1006), "")
      return false
    }
    life -= 1
    return true
  }
}
