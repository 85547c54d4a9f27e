import CLibwebsockets
import Glibc
import Synchronization
import WayTransport

/// One established WebSocket connection, of a server or a client.
///
/// lws holds the only reference that keeps it alive, from ESTABLISHED to CLOSED.
///
/// Properties that every message uses are not checked for exclusive access. They are confined to
/// one loop, and call no other code while they change.
final class SocketConnection: MessageChannel, @unchecked Sendable {  // confined to its loop
  /// What this side does with the connection.
  private enum SocketState {
    /// Messages are sent and received. Becomes `moving`, `closing`, or `closed` if the socket ends.
    case open
    /// The connection moves to another loop server as soon as all data is sent. Becomes `closed` when
    /// it has moved or the socket ends, or `open` if it cannot move.
    case moving(to: SocketLoopServer, then: @Sendable (any MessageChannel) -> Void)
    /// The close frame was sent, or is queued after earlier data. Becomes `closed` when the socket
    /// ends.
    case closing
    case closed
  }

  /// What this side expects from the peer. It changes independently of ``SocketState``: the socket may
  /// end before a close frame, and the peer may send one first.
  private enum ReadState {
    /// Frames are read, unless reading is paused. May become each of the other states.
    case open
    /// The rest of the input is dropped: a frame was invalid, or there was no room for it. Becomes
    /// `ending`.
    case failed
    /// The peer has sent its close frame, and nothing follows. Becomes `ending`.
    case peerClosed
    /// Nothing is read any more. The loop closes the socket in this turn or a later one. Becomes
    /// `endingAtOnce` if this turn has time for it.
    case ending
    /// The socket ends now, outside of the bulk work of the loop, to which its time is charged.
    case endingAtOnce
  }

  /// The state of a connection that moves to another loop.
  struct TransferState: Sendable {
    let id: UInt64
    let limits: ConnectionLimits
    let frameReader: FrameReader
    let isAdmitted: Bool
    let message: [UInt8]
    let isMessageOpen: Bool
    let unread: [UInt8]
  }

  let id: UInt64
  var loop: any EventLoop { socketLoop }
  /// The loop server of a server's connection; `nil` for a client's.
  private var loopServer: SocketLoopServer?

  private let socketLoop: SocketLoop
  private let limits: ConnectionLimits
  private let isClient: Bool
  private let traffic: SocketTraffic
  @exclusivity(unchecked) private var wsi: OpaquePointer?
  @exclusivity(unchecked) private var receiver: (any MessageReceiver)?
  @exclusivity(unchecked) private var state = SocketState.open
  @exclusivity(unchecked) private var writer: SocketWriter
  @exclusivity(unchecked) private var isUnflushed = false
  @exclusivity(unchecked) private var frameReader = FrameReader()
  @exclusivity(unchecked) private var readState = ReadState.open
  @exclusivity(unchecked) private var input: HeldInput
  /// Whether the limits for clients that are not authenticated have ended, or never applied.
  @exclusivity(unchecked) private var isAdmitted: Bool
  @exclusivity(unchecked) private var readPause = ReadPause()
  /// Fires if the peer of a congested connection has read nothing for too long.
  private var stallTimer: (any ScheduledWork)?
  private var isPeerConsuming = false
  private var closeCode: UInt16?
  /// Set when the peer sends or reads anything. It is a flag, so that a message does not need to
  /// read the clock.
  @exclusivity(unchecked) var hasActivity = false
  private var liveness = SocketLiveness()
  private var killTimer: (any ScheduledWork)?
  /// Number of written bytes that the peer's system had not confirmed at the last call of
  /// ``endIfStalled()``.
  private var unconfirmedBytes: Int32?

  private static let pingPayload = Array("life".utf8)

  /// Makes an id for a connection. Later connections have larger ids.
  static func makeID() -> UInt64 { ChannelIDs.make() }

  /// Creates a server's connection if `loopServer` is set, else a client's. `id` is the one that
  /// the server made when it accepted the connection.
  init(
    loop: SocketLoop, wsi: OpaquePointer?, limits: ConnectionLimits,
    at loopServer: SocketLoopServer? = nil, id: UInt64? = nil
  ) {
    self.id = id ?? Self.makeID()
    socketLoop = loop
    self.wsi = wsi
    self.limits = limits
    self.loopServer = loopServer
    isClient = loopServer == nil
    traffic = loop.traffic
    writer = SocketWriter(isClient: isClient, pool: loop.buffers, budget: limits.outbound)
    input = HeldInput(budget: limits.inbound)
    isAdmitted = limits.maximumMessageBeforeAdmission == nil
  }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }

  func admit() {
    guard !isAdmitted else { return }
    isAdmitted = true
    loopServer?.admitted(self)
  }

  /// Ends the connection without waiting for the peer, unless it is admitted.
  func abortUnadmitted(_ code: CloseCode, _ reason: String) {
    guard !isAdmitted else { return }
    close(code, reason)
    // The close frame is lost if the system has no room for it.
    _ = flush()
    kill()
  }

  /// What it holds of the peer's data; `nil` if that is nothing, or if the connection is closing.
  var heldInput: HeldInput? { if case .open = state, input.size > 0 { input } else { nil } }

  var bufferedBytes: Int { writer.cost }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard case .open = state, enqueue(message, as: FrameHeader.Opcode(kind)) else { return }
    traffic.messagesSent.add(1)
    traffic.bytesSent.add(message.byteCount)
    if writer.isFlushDue { _ = flush() }
  }

  /// Queues a frame. If there is no room, closes the connection and returns false.
  private func enqueue(_ payload: RawSpan, as opcode: FrameHeader.Opcode) -> Bool {
    guard bufferedBytes + payload.byteCount <= limits.maximumBuffered else {
      closeSlowConsumer("more than \(limits.maximumBuffered) bytes wait for the client")
      return false
    }
    let growth = writer.growth(for: payload.byteCount)
    if growth > 0 {
      limits.outbound.reserve(growth)
      // Making room may have closed this connection.
      guard case .open = state else { return false }
      guard limits.outbound.hasRoom(growth) else {
        closeSlowConsumer("more bytes wait for clients than the server may hold")
        return false
      }
    }
    writer.append(payload, as: opcode)
    flushLater()
    if bufferedBytes > limits.highWater, !readPause.isCongested { exceededHighWater() }
    return true
  }

  /// Stops reading from a peer that does not read its responses, so that it sends no more requests.
  private func exceededHighWater() {
    updateReadPause { $0.isCongested = true }
    startStallTimer()
  }

  private func startStallTimer() {
    isPeerConsuming = false
    stallTimer = socketLoop.schedule(after: limits.stallTimeout) { [weak self] in
      guard let self, readPause.isCongested else { return }
      if isPeerConsuming {
        startStallTimer()
      } else {
        closeSlowConsumer("the client read nothing for too long")
      }
    }
  }

  private func fellBelowLowWater() {
    stallTimer?.cancel()
    stallTimer = nil
    updateReadPause { $0.isCongested = false }
  }

  /// Closes a connection whose peer reads too slowly. Unsent data is dropped.
  func closeSlowConsumer(_ reason: String) {
    guard case .open = state else { return }
    writer.removeUnsent()
    close(.slowConsumer, reason)
  }

  /// Number of bytes of memory for unsent data; `nil` if the connection is closing.
  var openQueueSize: Int? { if case .open = state { writer.capacity } else { nil } }

  private func flushLater() {
    guard !isUnflushed else { return }
    isUnflushed = true
    socketLoop.flushLater(self)
  }

  func flushAtTurnEnd() {
    isUnflushed = false
    guard wsi != nil else { return }
    if !flush() { kill() }
  }

  /// Writes as much as the socket accepts. Returns false if the socket has failed, or if the
  /// connection is finished.
  private func flush() -> Bool {
    guard let wsi else { return true }
    guard writer.write(to: wsi) else { return false }
    if readPause.isCongested, bufferedBytes <= limits.highWater / 4 { fellBelowLowWater() }
    return !writer.isEmpty || !finishSending(wsi)
  }

  /// Ends sending once all data is sent, if a server's connection closes and reads no more from its
  /// peer. Returns whether the connection can end immediately.
  ///
  /// After a protocol error the peer may still be sending. Closing then would reset the connection,
  /// and the peer could lose the close frame.
  private func finishSending(_ wsi: OpaquePointer) -> Bool {
    guard case .closing = state else { return false }
    switch readState {
    case .open: return false
    case .failed:
      Glibc.shutdown(lws_get_socket_fd(wsi), Int32(SHUT_WR))
      return false
    case .peerClosed, .ending, .endingAtOnce: return true
    }
  }

  /// Whether the socket is about to end, so that nothing is read any more.
  private var isEnding: Bool {
    switch readState {
    case .open, .failed, .peerClosed: false
    case .ending, .endingAtOnce: true
    }
  }

  /// WRITEABLE: the socket accepts data again. Returns the result of the callback.
  func becameWritable() -> Int32 {
    writer.becameWritable()
    hasActivity = true
    isPeerConsuming = true
    if isClient { return flush() ? 0 : -1 }
    // lws forgets a request for the next WRITEABLE of a raw file that is made in this callback.
    flushLater()
    if case .moving = state { scheduleTransfer() }
    return 0
  }

  /// Pings a peer that has been inactive, and closes the connection if the peer stays inactive.
  func checkLiveness(every interval: Duration, _ serverLimits: Limits) {
    switch state {
    case .open, .moving: break
    case .closing, .closed: return
    }
    defer { hasActivity = false }
    switch liveness.advance(by: interval, serverLimits, hasActivity: hasActivity) {
    case .nothing: break
    case .expire where isMoving: kill()
    case .ping: _ = enqueue(Self.pingPayload.span.bytes, as: .ping)
    case .expire: close(.noPong, "nothing arrived for \(serverLimits.silence), not even a pong")
    }
  }

  func pause() { updateReadPause { $0.isPaused = true } }

  func resume() { updateReadPause { $0.isPaused = false } }

  /// Pauses or resumes reading. For a client, lws keeps the data that it has read
  /// (lws_rx_flow_control); for a server it is in `input`.
  private func updateReadPause(_ change: (inout ReadPause) -> Void) {
    let wasOpen = readPause.allowsReading
    change(&readPause)
    guard let wsi, readPause.allowsReading != wasOpen, !isEnding else { return }
    if wasOpen {
      _ = lws_rx_flow_control(wsi, 0)
    } else if input.unread.isEmpty {
      _ = lws_rx_flow_control(wsi, 1)
    } else {
      socketLoop.executeLater { [weak self] in self?.processUnread() }
    }
  }

  private func processUnread() {
    guard let wsi, readPause.allowsReading, !isEnding else { return }
    var bytes = input.removeUnread()
    bytes.withUnsafeMutableBytes { receive($0) }
    if isEnding { return endLater() }
    if readPause.allowsReading { _ = lws_rx_flow_control(wsi, 1) }
  }

  private var isMoving: Bool { if case .moving = state { true } else { false } }

  func move(
    to loop: any EventLoop, _ onMoved: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool {
    guard case .open = state, let target = loopServer?.loopServer(on: loop) else { return false }
    pause()
    stallTimer?.cancel()
    state = .moving(to: target, then: onMoved)
    scheduleTransfer()
    return true
  }

  /// Deferred, because lws may be in a callback for this socket.
  private func scheduleTransfer() {
    socketLoop.execute { [weak self] in self?.transfer() }
  }

  /// Passes the socket to the other loop once all data is sent. It duplicates the descriptor, since
  /// lws closes its own one. lws does not shut a raw socket down (__lws_close_free_wsi).
  private func transfer() {
    guard case .moving(let target, let onMoved) = state, let wsi else { return }
    guard flush() else { return kill() }
    // Otherwise it continues when the socket is writable.
    guard writer.isEmpty else { return }
    let descriptor = fcntl(lws_get_socket_fd(wsi), F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else {
      state = .open
      return close(.overloaded, "the server has no free file descriptor")
    }
    let transferState = TransferState(
      id: id, limits: limits, frameReader: frameReader, isAdmitted: isAdmitted,
      message: input.message, isMessageOpen: input.isMessageOpen, unread: input.unread)
    input.removeAll()
    state = .closed
    receiver = nil
    target.receive(descriptor, transferState, onMoved)
    loopServer?.moved(self)
    loopServer = nil
    lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_SYNC)
  }

  /// Restores the state from another loop. Its unread data is processed before new data.
  func restore(_ transferState: TransferState) {
    frameReader = transferState.frameReader
    isAdmitted = transferState.isAdmitted
    input.restore(
      message: transferState.message, isMessageOpen: transferState.isMessageOpen,
      unread: transferState.unread)
    hasActivity = true
    if let wsi, !input.unread.isEmpty { _ = lws_rx_flow_control(wsi, 0) }
  }

  /// Processes the unread data from another loop, unless the receiver has paused the connection.
  func scheduleUnread() {
    guard !input.unread.isEmpty, readPause.allowsReading else { return }
    socketLoop.executeLater { [weak self] in self?.processUnread() }
  }

  func close(_ code: CloseCode, _ reason: String) {
    guard case .open = state, wsi != nil else { return }
    _ = input.removeMessage()
    closeCode = code.rawValue
    appendClose(CloseFrame.payload(code, reason))
  }

  /// Starts the close handshake. This class performs it, because lws ends the connection before its
  /// close frame is sent. That happens with libuv if the library was built with assertions, as in
  /// Debian (lws_service_fd_tsi closes twice).
  private func appendClose(_ payload: [UInt8]) {
    state = .closing
    // Reading continues, to receive the peer's close frame.
    updateReadPause { $0 = ReadPause() }
    stallTimer?.cancel()
    writer.append(payload.span.bytes, as: .close)
    flushLater()
    killTimer = socketLoop.schedule(after: limits.closeTimeout) { [weak self] in self?.kill() }
  }

  /// Ends a closing connection if all its data was written, and the peer's system has confirmed
  /// nothing since the last call. So the peer has had that time to confirm the close after it
  /// received everything. Otherwise its network or its program has stopped; the system continues to
  /// deliver what was written.
  func endIfStalled() {
    guard case .closing = state, writer.isEmpty, let wsi else { return }
    var bytes: Int32 = 0
    // Unsent and unacknowledged bytes (SIOCOUTQ of tcp(7)).
    _ = ioctl(lws_get_socket_fd(wsi), UInt(TIOCOUTQ), &bytes)
    if bytes == unconfirmedBytes { kill() } else { unconfirmedBytes = bytes }
  }

  /// Closes forcibly: shuts the socket down, so that lws closes it.
  func kill() {
    guard let wsi else { return }
    updateReadPause { $0 = ReadPause() }
    Glibc.shutdown(lws_get_socket_fd(wsi), Int32(SHUT_RDWR))
  }

  /// Receives the peer's close frame. Sends one in response unless this side has closed first; then
  /// the connection ends.
  func receiveClose(_ payload: UnsafeRawBufferPointer) {
    guard case .open = state else { return }
    let frame = CloseFrame(payload)
    closeCode = frame.code
    appendClose(frame.response)
  }

  /// Closes the socket when the loop has time: thousands of peers may end their connections at
  /// once, and lws takes long to close each of them.
  private func endLater() {
    guard let wsi else { return }
    _ = lws_rx_flow_control(wsi, 0)
    socketLoop.executeInShare(cost: socketLoop.closeCost) { [weak self] in
      guard let wsi = self?.wsi else { return }
      lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_SYNC)
    }
  }

  /// LWS_CALLBACK_CLOSED, LWS_CALLBACK_RAW_CLOSE_FILE: the connection has ended.
  func ended() {
    if closeCode == nil, isClient { closeCode = wsi.flatMap(sentCloseCode) }
    wsi = nil
    // The connection has moved to another loop.
    if case .closed = state { return }
    state = .closed
    traffic.recordClose(closeCode)
    killTimer?.cancel()
    stallTimer?.cancel()
    writer.removeAll()
    input.removeAll()
    let receiver = receiver
    self.receiver = nil
    loopServer?.ended(self)
    loopServer = nil
    guard let receiver else { return }
    switch readState {
    case .endingAtOnce: socketLoop.runInShare { receiver.closed(closeCode) }
    case .ending: receiver.closed(closeCode)
    case .open, .failed, .peerClosed:
      socketLoop.executeInShare { [closeCode] in receiver.closed(closeCode) }
    }
  }

  /// LWS_CALLBACK_RAW_RX_FILE: the socket of a server's connection has data, has ended or has
  /// failed. Returns the result of the callback: -1 ends the connection before others are read, so
  /// that they see its end, unless too many end in this turn.
  func becameReadable() -> Int32 {
    guard let wsi, !isEnding else { return 0 }
    let buffer = socketLoop.receiveBuffer
    let count = recv(lws_get_socket_fd(wsi), buffer.baseAddress, buffer.count, 0)
    if count > 0 {
      receive(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    } else if count == 0 || errno != EAGAIN && errno != EINTR {
      readState = .ending
    }
    guard isEnding, self.wsi != nil else { return 0 }
    socketLoop.countEnd()
    guard socketLoop.claimShare(cost: socketLoop.closeCost) else {
      endLater()
      return 0
    }
    readState = .endingAtOnce
    return -1
  }

  /// Handles bytes from a client. The caller closes the socket if that ends the connection.
  private func receive(_ bytes: UnsafeMutableRawBufferPointer) {
    hasActivity = true
    var rest = bytes
    do throws(FrameReader.FrameError) {
      while case .open = readState, readPause.allowsReading, let part = try frameReader.next(&rest)
      {
        switch part {
        case .message(let bytes, let kind, let isLast, let remaining):
          receive(bytes, kind, isLast: isLast, remaining: remaining)
        case .ping(let payload):
          if case .open = state { _ = enqueue(payload.span.bytes, as: .pong) }
        case .pong: break
        case .close(let payload):
          readState = .peerClosed
          payload.withUnsafeBytes(receiveClose)
        }
      }
    } catch {
      readState = .failed
      close(.protocolError, error.reason)
    }
    if !readPause.allowsReading { hold(rest) }
    if case .open = readState { return }
    if !flush() { readState = .ending }
  }

  /// LWS_CALLBACK_CLIENT_RECEIVE: the next part of a server's message.
  func receive(_ part: UnsafeRawBufferPointer) {
    guard let wsi else { return }
    hasActivity = true
    receive(
      part, lws_frame_is_binary(wsi) != 0 ? .binary : .text,
      isLast: lws_is_final_fragment(wsi) != 0, remaining: lws_remaining_packet_payload(wsi))
  }

  private func receive(
    _ part: UnsafeRawBufferPointer, _ kind: MessageKind, isLast: Bool, remaining: Int
  ) {
    guard case .open = state, let receiver else { return }
    traffic.bytesReceived.add(part.count)
    let room = messageLimit - input.message.count - part.count
    if room < 0 || remaining > room { return rejectLongMessage() }
    // Complete texts are validated here. lws would check every byte, but miss a character that is
    // incomplete before an empty last part.
    if isLast, !input.isMessageOpen {
      guard kind == .binary || receiver.checksText || isUTF8(part) else { return rejectText() }
      traffic.messagesReceived.add(1)
      receiver.receive(part.bytes, as: kind)
      return
    }
    makeRoomForInput(part.count)
    guard case .open = state else { return }
    input.append(toMessage: part)
    guard isLast else { return }
    let message = input.removeMessage()
    guard kind == .binary || receiver.checksText || message.withUnsafeBytes(isUTF8) else {
      return rejectText()
    }
    traffic.messagesReceived.add(1)
    message.withUnsafeBytes { receiver.receive($0.bytes, as: kind) }
  }

  /// Holds data that was read when reading was paused.
  private func hold(_ bytes: UnsafeMutableRawBufferPointer) {
    makeRoomForInput(bytes.count)
    // It may have been closed for lack of room.
    if case .open = readState { input.append(unread: bytes) }
  }

  /// Makes room for received data. If there is none, closes the connection, unless it is moving.
  private func makeRoomForInput(_ bytes: Int) {
    limits.inbound.reserve(bytes)
    if !limits.inbound.hasRoom(bytes) { closeSlowSender() }
  }

  /// Closes a connection whose message is unfinished, because the server has no more memory for
  /// such messages.
  func closeSlowSender() {
    guard case .open = state else { return }
    // Without these bytes, the following ones are no frames.
    input.removeAll()
    if !isEnding { readState = .failed }
    close(.slowConsumer, "too many bytes of unfinished messages wait at the server")
  }

  /// Maximum number of bytes of a message.
  private var messageLimit: Int {
    (isAdmitted ? nil : limits.maximumMessageBeforeAdmission) ?? limits.maximumMessage
  }

  private func rejectLongMessage() {
    close(
      .messageTooBig,
      isAdmitted
        ? "a message may have at most \(messageLimit) bytes"
        : "until the client is authenticated, a message may have at most \(messageLimit) bytes")
  }

  private func rejectText() {
    close(.invalidPayload, CloseCode.notUTF8)
  }
}
