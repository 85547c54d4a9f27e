/// Takes the connections that come to a listening socket.
final class Listener: @unchecked Sendable {  // confined to its loop
  let socket: ListenSocket
  private let loop: SocketLoop
  private let spare = SpareDescriptor()
  private let onTaken: (Int32, SocketPeer) -> Void
  private let onTurnedAway: () -> Void
  private var poll: PollHandle?

  /// `onTaken` is given the descriptor of each connection, and who it is; `onTurnedAway` is told of
  /// each for which there was none left. Both are called on the loop.
  init(
    _ configuration: SocketServerConfiguration, loop: SocketLoop,
    onTaken: @escaping (Int32, SocketPeer) -> Void, onTurnedAway: @escaping () -> Void
  ) throws(SocketError) {
    self.loop = loop
    self.onTaken = onTaken
    self.onTurnedAway = onTurnedAway
    socket = try ListenSocket(configuration)
    do throws(SocketError) {
      let poll = try PollHandle(loop: loop, descriptor: socket.descriptor) {
        [weak self] _, _ in self?.acceptWaiting()
      }
      self.poll = poll
      poll.watch(readable: true, writable: false)
    } catch {
      socket.close()
      throw error
    }
  }

  /// Ends the listening. Idempotent.
  func close() {
    guard let poll else { return }
    poll.close()
    self.poll = nil
    socket.close()
  }

  private func acceptWaiting() {
    // Bounded, so that a rush of clients leaves those that are there their turn.
    for _ in 0..<64 where poll != nil {
      switch socket.accept() {
      case .success((let descriptor, let peer)):
        onTaken(descriptor, peer)
      case .failure(.aborted):
        continue
      case .failure(.none):
        return
      case .failure(.exhausted):
        if turnAwayOne() { continue }
        // The connection stays ready to be taken: watching on would spin.
        poll?.watch(readable: false, writable: false)
        _ = loop.schedule(after: .milliseconds(100)) { [weak self] in
          self?.poll?.watch(readable: true, writable: false)
        }
        return
      }
    }
  }

  /// Takes a connection for which there is no descriptor, and tells it so. False where it has to
  /// wait.
  private func turnAwayOne() -> Bool {
    var isDone = false
    let isLent = spare.lend {
      guard case .success((let descriptor, _)) = socket.accept() else { return }
      isDone = true
      OutgoingResponse(fault: .exhausted).sendAndClose(descriptor)
    }
    guard isLent, isDone else { return false }
    onTurnedAway()
    return true
  }
}
