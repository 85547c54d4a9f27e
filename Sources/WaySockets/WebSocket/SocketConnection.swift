import CLibwebsockets
import Glibc
import Synchronization
import WayTransport

/// One established WebSocket connection, of a server or of a client.
///
/// lws holds the one reference that keeps it alive, from ESTABLISHED to CLOSED.
///
/// What every message needs is not checked for exclusive access: it is words of one loop, and values
/// that call nobody back while they change.
final class SocketConnection: MessageChannel, @unchecked Sendable {  // confined to its loop
  private enum State {
    case open
    /// It goes on at another place, as soon as what was sent is written.
    case moving(to: SocketLoopServer, then: @Sendable (any MessageChannel) -> Void)
    /// The close frame was sent, or waits behind what is to be sent before it.
    case closing
    case closed
  }

  /// What goes with a connection to another loop.
  struct TransferState: Sendable {
    let id: UInt64
    let limits: ConnectionLimits
    let frames: FrameReader
    let assembly: MessageAssembly
    let unread: [UInt8]
  }

  let id: UInt64
  var loop: any EventLoop { socketLoop }
  /// Where it is, of the server's places; nil for a client's.
  private var place: SocketLoopServer?

  private let socketLoop: SocketLoop
  private let limits: ConnectionLimits
  private let isClient: Bool
  private let traffic: SocketTraffic
  @exclusivity(unchecked) private var wsi: OpaquePointer?
  @exclusivity(unchecked) private var receiver: (any MessageReceiver)?
  @exclusivity(unchecked) private var state = State.open
  @exclusivity(unchecked) private var writer: SocketWriter
  @exclusivity(unchecked) private var isUnflushed = false
  @exclusivity(unchecked) private var frames = FrameReader()
  /// Nothing more is read from the peer: it has closed, or sent what is no frame.
  @exclusivity(unchecked) private var isDeaf = false
  private var isPeerDone = false
  @exclusivity(unchecked) private var assembly = MessageAssembly()
  @exclusivity(unchecked) private var gate = ReadPause()
  /// What a server's connection had read when its gate closed.
  @exclusivity(unchecked) private var unread: [UInt8] = []
  /// Rings where the peer of a full connection has taken nothing for too long.
  private var stall: (any ScheduledWork)?
  private var isTaking = false
  private var closeCode: UInt16?
  /// Set by whatever comes from the peer, or is taken by it: a flag, so that a message costs no
  /// look at the clock.
  @exclusivity(unchecked) var isHeard = false
  private var life = Liveness()
  private var killTimer: (any ScheduledWork)?

  private static let pingPayload = Array("life".utf8)

  /// An id for a connection; who comes later has a larger one.
  static func makeID() -> UInt64 { ChannelIDs.make() }

  /// One of a server's where it has a `place`, else a client's. `id` is that which a server has given
  /// it when it came.
  init(
    loop: SocketLoop, wsi: OpaquePointer?, limits: ConnectionLimits,
    at place: SocketLoopServer? = nil, id: UInt64? = nil
  ) {
    self.id = id ?? Self.makeID()
    socketLoop = loop
    self.wsi = wsi
    self.limits = limits
    self.place = place
    isClient = place == nil
    traffic = loop.traffic
    writer = SocketWriter(isClient: isClient, pool: loop.buffers, budget: limits.budget)
  }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }

  // MARK: Sending

  var bufferedBytes: Int { writer.cost }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard case .open = state, put(message, as: FrameHeader.Opcode(kind)) else { return }
    traffic.messagesSent.add(1)
    traffic.bytesSent.add(message.byteCount)
    if writer.isDue { _ = flush() }
  }

  /// Queues a frame. Where it has no room, closes and returns false.
  private func put(_ payload: RawSpan, as opcode: FrameHeader.Opcode) -> Bool {
    guard bufferedBytes + payload.byteCount <= limits.maximumBuffered else {
      giveUp("more than \(limits.maximumBuffered) bytes wait to be read")
      return false
    }
    let growth = writer.growth(for: payload.byteCount)
    if growth > 0 {
      limits.budget.reserve(growth)
      // What made room may have been this connection.
      guard case .open = state else { return false }
      guard limits.budget.isLeft(growth) else {
        giveUp("more bytes wait to be read than the server keeps for all")
        return false
      }
    }
    writer.append(payload, as: opcode)
    flushLater()
    if bufferedBytes > limits.highWater, !gate.isFull { becameFull() }
    return true
  }

  /// A peer that does not take what it asks for is not read from, so that it asks for no more.
  private func becameFull() {
    change { $0.isFull = true }
    waitForPeer()
  }

  private func waitForPeer() {
    isTaking = false
    stall = socketLoop.schedule(after: limits.stallTimeout) { [weak self] in
      guard let self, gate.isFull else { return }
      if isTaking { waitForPeer() } else { giveUp("nothing was read for too long") }
    }
  }

  private func hasRoom() {
    stall?.cancel()
    stall = nil
    change { $0.isFull = false }
  }

  /// Closes on a peer that takes too little: what waits for it is dropped.
  func giveUp(_ reason: String) {
    guard case .open = state else { return }
    writer.removeUnsent()
    close(.slowConsumer, reason)
  }

  /// Bytes of memory that what waits takes up; nil where the connection closes.
  var openQueue: Int? { if case .open = state { writer.capacity } else { nil } }

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

  /// Writes as much as the socket takes. Returns false where it has failed, or all is said.
  private func flush() -> Bool {
    guard let wsi else { return true }
    guard writer.write(to: wsi) else { return false }
    if gate.isFull, bufferedBytes <= limits.highWater / 4 { hasRoom() }
    return !writer.isEmpty || !endsSending(wsi)
  }

  /// Once all is sent, a server's connection whose peer is not read any more ends. Returns whether
  /// it is over at once: after a fault the peer may be sending yet, and closing on that would reset
  /// the connection and might cost it the close frame.
  private func endsSending(_ wsi: OpaquePointer) -> Bool {
    guard isDeaf, case .closing = state else { return false }
    if isPeerDone { return true }
    Glibc.shutdown(lws_get_socket_fd(wsi), Int32(SHUT_WR))
    return false
  }

  /// WRITEABLE: lws has sent what it held. Returns what the callback returns.
  func becameWritable() -> Int32 {
    writer.becameWritable()
    isHeard = true
    isTaking = true
    guard flush() else { return -1 }
    if case .moving = state { leaveSoon() }
    return 0
  }

  /// Asks the peer for a sign of life where it has been silent, and closes where it stays so.
  func checkLife(_ patience: Patience) {
    switch state {
    case .open, .moving: break
    case .closing, .closed: return
    }
    defer { isHeard = false }
    switch life.pass(patience, isHeard: isHeard) {
    case .nothing: break
    case .giveUp where isMoving: kill()
    case .ping: _ = put(Self.pingPayload.span.bytes, as: .ping)
    case .giveUp: close(.noPong, "nothing came for \(patience.silence), not even a pong")
    }
  }

  // MARK: Pausing

  func pause() { change { $0.isPaused = true } }

  func resume() { change { $0.isPaused = false } }

  /// A client's lws keeps what it has read (lws_rx_flow_control); here it is ``unread``.
  private func change(_ change: (inout ReadPause) -> Void) {
    let wasOpen = gate.isOpen
    change(&gate)
    guard let wsi, gate.isOpen != wasOpen else { return }
    if wasOpen {
      _ = lws_rx_flow_control(wsi, 0)
    } else if unread.isEmpty {
      _ = lws_rx_flow_control(wsi, 1)
    } else {
      socketLoop.executeLater { [weak self] in self?.readOn() }
    }
  }

  private func readOn() {
    guard let wsi, gate.isOpen else { return }
    var bytes: [UInt8] = []
    swap(&bytes, &unread)
    if bytes.withUnsafeMutableBytes(receive) != 0 { kill() }
    if gate.isOpen { _ = lws_rx_flow_control(wsi, 1) }
  }

  // MARK: Moving

  private var isMoving: Bool { if case .moving = state { true } else { false } }

  func move(
    to loop: any EventLoop, _ goOn: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool {
    guard case .open = state, let target = place?.place(on: loop) else { return false }
    pause()
    stall?.cancel()
    state = .moving(to: target, then: goOn)
    leaveSoon()
    return true
  }

  /// Not now, in the midst of what lws calls for this very socket.
  private func leaveSoon() {
    socketLoop.execute { [weak self] in self?.leave() }
  }

  /// Hands the socket on once all that was sent is written: as a descriptor of its own, since lws
  /// closes the one that it has. It does not shut a raw socket down (__lws_close_free_wsi).
  private func leave() {
    guard case .moving(let target, let goOn) = state, let wsi else { return }
    guard flush() else { return kill() }
    // Else when the socket takes more.
    guard writer.isEmpty else { return }
    let descriptor = fcntl(lws_get_socket_fd(wsi), F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else {
      state = .open
      return close(.overloaded, "the server has no descriptor left")
    }
    let luggage = TransferState(
      id: id, limits: limits, frames: frames, assembly: assembly, unread: unread)
    state = .closed
    receiver = nil
    target.take(descriptor, luggage, goOn)
    place?.moved(self)
    place = nil
    lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_SYNC)
  }

  /// It has come from another loop: what it brings is read before what comes.
  func unpack(_ luggage: TransferState) {
    frames = luggage.frames
    assembly = luggage.assembly
    unread = luggage.unread
    isHeard = true
    if let wsi, !unread.isEmpty { _ = lws_rx_flow_control(wsi, 0) }
  }

  /// Reads what it has brought, unless its receiver has paused it.
  func readWhatCame() {
    guard !unread.isEmpty, gate.isOpen else { return }
    socketLoop.executeLater { [weak self] in self?.readOn() }
  }

  // MARK: Closing

  func close(_ code: CloseCode, _ reason: String) {
    guard case .open = state, wsi != nil else { return }
    assembly.removeAll()
    closeCode = code.rawValue
    appendClose(CloseFrame.payload(code, reason))
  }

  /// The close handshake is done here: lws's own ends the connection before its close frame is
  /// sent, when libuv is below and the library was built with assertions, as Debian's is
  /// (lws_service_fd_tsi closes twice).
  private func appendClose(_ payload: [UInt8]) {
    state = .closing
    // Its peer's close frame is read for.
    change { $0 = ReadPause() }
    stall?.cancel()
    writer.append(payload.span.bytes, as: .close)
    flushLater()
    killTimer = socketLoop.schedule(after: limits.closeTimeout) { [weak self] in self?.kill() }
  }

  /// Cuts off: lws sees the end of the socket and closes.
  func kill() {
    guard let wsi else { return }
    change { $0 = ReadPause() }
    Glibc.shutdown(lws_get_socket_fd(wsi), Int32(SHUT_RDWR))
  }

  /// The peer's close frame, which is answered unless this side has closed first; then the
  /// connection ends.
  func peerCloses(_ payload: UnsafeRawBufferPointer) {
    guard case .open = state else { return }
    let frame = CloseFrame(payload)
    closeCode = frame.code
    appendClose(frame.answer)
  }

  /// LWS_CALLBACK_CLOSED, LWS_CALLBACK_RAW_CLOSE.
  func ended() {
    if closeCode == nil, isClient { closeCode = wsi.flatMap(sentCloseCode) }
    wsi = nil
    // It has moved.
    if case .closed = state { return }
    state = .closed
    traffic.closed(closeCode)
    killTimer?.cancel()
    stall?.cancel()
    writer.removeAll()
    unread = []
    assembly.removeAll()
    let receiver = receiver
    self.receiver = nil
    place?.ended(self)
    place = nil
    receiver?.closed(closeCode)
  }

  // MARK: Receiving

  /// LWS_CALLBACK_RAW_RX: bytes of a client. Returns what the callback returns.
  func receive(_ bytes: UnsafeMutableRawBufferPointer) -> Int32 {
    isHeard = true
    var rest = bytes
    do throws(FrameReader.Fault) {
      while !isDeaf, gate.isOpen, let part = try frames.next(&rest) {
        switch part {
        case .message(let bytes, let kind, let isLast, let remaining):
          receive(bytes, kind, isLast: isLast, remaining: remaining)
        case .ping(let payload):
          if case .open = state { _ = put(payload.span.bytes, as: .pong) }
        case .pong: break
        case .close(let payload):
          isDeaf = true
          isPeerDone = true
          payload.withUnsafeBytes(peerCloses)
        }
      }
    } catch {
      isDeaf = true
      close(.protocolError, error.reason)
    }
    if !gate.isOpen { unread.append(contentsOf: rest) }
    return !isDeaf || flush() ? 0 : -1
  }

  /// LWS_CALLBACK_CLIENT_RECEIVE: the next part of a server's message.
  func receive(_ part: UnsafeRawBufferPointer) {
    guard let wsi else { return }
    isHeard = true
    receive(
      part, lws_frame_is_binary(wsi) != 0 ? .binary : .text,
      isLast: lws_is_final_fragment(wsi) != 0, remaining: lws_remaining_packet_payload(wsi))
  }

  private func receive(
    _ part: UnsafeRawBufferPointer, _ kind: MessageKind, isLast: Bool, remaining: Int
  ) {
    guard case .open = state, let receiver else { return }
    traffic.bytesReceived.add(part.count)
    let room = limits.maximumMessage - assembly.bytes.count - part.count
    if room < 0 || remaining > room {
      close(.messageTooBig, "a message holds at most \(limits.maximumMessage) bytes")
      return
    }
    // Texts are checked here, whole: lws would look at every byte, and not see what an empty last
    // part cuts off.
    if isLast, !assembly.isOpen {
      guard kind == .binary || receiver.checksText || isUTF8(part) else { return refuseText() }
      traffic.messagesReceived.add(1)
      receiver.receive(part.bytes, as: kind)
      return
    }
    assembly.append(part)
    guard isLast else { return }
    guard kind == .binary || receiver.checksText || assembly.bytes.withUnsafeBytes(isUTF8) else {
      return refuseText()
    }
    traffic.messagesReceived.add(1)
    var message = MessageAssembly()
    swap(&message, &assembly)
    message.bytes.withUnsafeBytes { receiver.receive($0.bytes, as: kind) }
    message.removeAll()
    if case .open = state { swap(&message, &assembly) }
  }

  private func refuseText() {
    close(.invalidPayload, CloseCode.notUTF8)
  }
}
