/// Accepts the connections of the listening sockets.
final class SocketListener: @unchecked Sendable {  // confined to its loop
  /// The address for clients.
  let address: SocketListenAddress
  private let sockets: [ListenSocket]
  private let loop: SocketLoop
  private let spare = SpareDescriptor()
  private let onAccept: (Int32, SocketPeer) -> Void
  private let onReject: () -> Void
  /// One for each socket; empty once the listener is closed.
  private var polls: [PollHandle] = []

  /// Starts to listen. `onAccept` receives the descriptor and the peer of each connection.
  /// `onReject` is called for each connection that is rejected because no descriptor is free. Both
  /// are called on the loop.
  init(
    _ configuration: SocketServerConfiguration, loop: SocketLoop,
    onAccept: @escaping (Int32, SocketPeer) -> Void, onReject: @escaping () -> Void
  ) throws(SocketError) {
    self.loop = loop
    self.onAccept = onAccept
    self.onReject = onReject
    let listening = try ListenSockets(configuration)
    address = listening.address
    sockets = listening.all
    do throws(SocketError) {
      for (index, socket) in sockets.enumerated() {
        let poll = try PollHandle(loop: loop, descriptor: socket.descriptor) {
          [weak self] _, _ in self?.acceptPending(at: index)
        }
        polls.append(poll)
        poll.watch(readable: true, writable: false)
      }
    } catch {
      for poll in polls { poll.close() }
      for socket in sockets { socket.close() }
      throw error
    }
  }

  /// Stops listening. Idempotent.
  func close() {
    guard !polls.isEmpty else { return }
    for poll in polls { poll.close() }
    polls = []
    for socket in sockets { socket.close() }
  }

  /// Accepts the connections that wait at one of the sockets.
  private func acceptPending(at index: Int) {
    // Bounded, so that many new clients do not starve existing ones.
    for _ in 0..<64 where !polls.isEmpty {
      switch sockets[index].accept() {
      case .success((let descriptor, let peer)):
        onAccept(descriptor, peer)
      case .failure(.aborted):
        continue
      case .failure(.wouldBlock):
        return
      case .failure(.exhausted):
        if rejectNext(at: index) { continue }
        // The connection stays readable, so watching would spin.
        polls[index].watch(readable: false, writable: false)
        _ = loop.schedule(after: .milliseconds(100)) { [weak self] in self?.watch(at: index) }
        return
      }
    }
  }

  /// Watches a socket again, unless the listener is closed.
  private func watch(at index: Int) {
    guard !polls.isEmpty else { return }
    polls[index].watch(readable: true, writable: false)
  }

  /// Accepts and rejects a connection for which there is no descriptor. Returns false if it has to
  /// wait.
  private func rejectNext(at index: Int) -> Bool {
    var isDone = false
    let isLent = spare.releaseTemporarily {
      guard case .success((let descriptor, _)) = sockets[index].accept() else { return }
      isDone = true
      OutgoingResponse(rejection: .exhausted).sendAndClose(descriptor)
    }
    guard isLent, isDone else { return false }
    onReject()
    return true
  }
}
