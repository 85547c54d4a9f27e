import Synchronization

/// One end of a connection inside the process. The other end's receiver gets each message in a
/// later turn of the loop.
package final class MemoryChannel: MessageChannel {
  private enum MemoryChannelState {
    case open(receiver: (any MessageReceiver)?)
    case closed
  }

  package let id = ChannelIDs.make()
  package let loop: any EventLoop
  private let memoryLoop: MemoryLoop
  private let state = Mutex(MemoryChannelState.open(receiver: nil))
  private let otherEnd = Mutex<MemoryChannel?>(nil)
  /// Messages received while paused; `nil` if not paused.
  private let isResuming = Mutex(false)
  private let pausedMessages = Mutex<[(bytes: [UInt8], kind: MessageKind)]?>(nil)

  private init(_ loop: MemoryLoop) {
    self.loop = loop
    memoryLoop = loop
  }

  /// Connects to `acceptor`, which accepts the other end. `receiver` gets the messages of this end.
  package static func connect(
    to acceptor: any ChannelAcceptor, _ handshake: Handshake, loop: MemoryLoop,
    receiver: any MessageReceiver
  ) -> MemoryChannel {
    let near = MemoryChannel(loop)
    let far = MemoryChannel(loop)
    near.otherEnd.withLock { $0 = far }
    far.otherEnd.withLock { $0 = near }
    near.state.withLock { $0 = .open(receiver: receiver) }
    loop.execute { far.attach(acceptor.accept(far, handshake)) }
    return near
  }

  package var bufferedBytes: Int { 0 }

  package func attach(_ receiver: any MessageReceiver) {
    state.withLock { state in
      if case .open = state { state = .open(receiver: receiver) }
    }
  }

  package func send(_ message: RawSpan, as kind: MessageKind) {
    guard isOpen else { return }
    let bytes = message.withUnsafeBytes { [UInt8]($0) }
    let other = otherEnd.withLock { $0 }
    guard kind == .binary || String(validating: bytes, as: UTF8.self) != nil else {
      memoryLoop.execute { other?.close(.invalidPayload, "Text must be UTF-8") }
      return
    }
    memoryLoop.execute { other?.deliver(bytes, kind) }
  }

  package func pause() {
    pausedMessages.withLock { $0 = $0 ?? [] }
    isResuming.withLock { $0 = false }
  }

  package func resume() {
    isResuming.withLock { $0 = true }
    memoryLoop.execute { [self] in
      // It may have been paused again.
      guard isResuming.withLock({ $0 }) else { return }
      let waiting = pausedMessages.withLock { messages in
        defer { messages = nil }
        return messages ?? []
      }
      for (bytes, kind) in waiting { deliver(bytes, kind) }
    }
  }

  package func close(_ code: CloseCode, _ reason: String) {
    guard let receiver = markClosed() else { return }
    let other = otherEnd.withLock { other in
      defer { other = nil }
      return other
    }
    memoryLoop.execute {
      receiver?.closed(code.rawValue)
      guard let other, let peer = other.markClosed() else { return }
      other.otherEnd.withLock { $0 = nil }
      peer?.closed(code.rawValue)
    }
  }

  private var isOpen: Bool {
    state.withLock { if case .open = $0 { true } else { false } }
  }

  private func deliver(_ bytes: [UInt8], _ kind: MessageKind) {
    let isPaused = pausedMessages.withLock { messages in
      messages?.append((bytes, kind))
      return messages != nil
    }
    if isPaused { return }
    let receiver: (any MessageReceiver)? = state.withLock {
      if case .open(let receiver) = $0 { receiver } else { nil }
    }
    receiver?.receive(bytes.span.bytes, as: kind)
  }

  /// Closes this end. Returns `nil` if it was closed before.
  private func markClosed() -> (any MessageReceiver)?? {
    state.withLock { state in
      guard case .open(let receiver) = state else { return nil }
      state = .closed
      return .some(receiver)
    }
  }
}
