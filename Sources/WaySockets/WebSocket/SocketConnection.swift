import CLibwebsockets
import Glibc
import Synchronization
import WayTransport

/// One established WebSocket connection, of a server or of a client.
///
/// lws holds the one reference that keeps it alive, from ESTABLISHED to CLOSED.
final class SocketConnection: MessageChannel, @unchecked Sendable {  // confined to its loop
  private enum State {
    case open
    /// The close frame was sent, or waits behind what is to be sent before it.
    case closing
    case closed
  }

  let id: UInt64
  var loop: any EventLoop { socketLoop }
  /// Called once, when the connection is gone.
  var onClosed: (() -> Void)?

  private let socketLoop: SocketLoop
  private let limits: ConnectionLimits
  private let isClient: Bool
  private let traffic: Traffic
  private var wsi: OpaquePointer?
  private var receiver: (any MessageReceiver)?
  private var state = State.open
  private var out: OutBuffer
  /// Bytes that lws has copied because the socket would not take them.
  private var held = 0
  private var isUnflushed = false
  /// Set by a message of several parts: a ping may stand between them, which lws answers at the
  /// next WRITEABLE, and that answer goes first.
  private var letsPongPass = false
  private var assembly = MessageAssembly()
  private var isPaused = false
  private var closeCode: UInt16?
  /// Set by whatever comes from the peer, or is taken by it: a flag, so that a message costs no
  /// look at the clock.
  var isHeard = false
  private var life = Liveness()
  private var killTimer: (any ScheduledWork)?

  private static let lastID = Atomic<UInt64>(0)

  init(loop: SocketLoop, wsi: OpaquePointer?, limits: ConnectionLimits, isClient: Bool) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    socketLoop = loop
    self.wsi = wsi
    self.limits = limits
    self.isClient = isClient
    traffic = loop.traffic
    out = OutBuffer(pool: loop.buffers)
  }

  func attach(_ receiver: any MessageReceiver) {
    self.receiver = receiver
  }

  // MARK: Sending

  var bufferedBytes: Int { out.count + held }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard case .open = state else { return }
    guard bufferedBytes + message.byteCount <= limits.maximumBuffered else {
      out.removeAll()
      close(.slowConsumer, "more than \(limits.maximumBuffered) bytes wait to be read")
      return
    }
    out.append(message, as: FrameHeader.Opcode(kind), mask: mask())
    traffic.messagesSent.add(1)
    traffic.bytesSent.add(message.byteCount)
    if out.count >= Libwebsockets.transmitSize { _ = flush() }
    flushLater()
  }

  /// A client's frames are masked, each with a key of its own (RFC 6455 §5.3).
  private func mask() -> UInt32? {
    isClient ? UInt32.random(in: 0...(.max)) : nil
  }

  private func flushLater() {
    guard !isUnflushed else { return }
    isUnflushed = true
    socketLoop.unflushed.append(self)
  }

  func flushAtTurnEnd() {
    isUnflushed = false
    guard wsi != nil, out.count > 0 else { return }
    if !flush() { kill() }
  }

  /// Writes as much as the socket takes. Returns false where it has failed.
  private func flush() -> Bool {
    guard let wsi else { return true }
    if letsPongPass {
      lws_callback_on_writable(wsi)
      return true
    }
    while let chunk = out.chunk(limit: Libwebsockets.transmitSize) {
      if lws_partial_buffered(wsi) != 0 {
        lws_callback_on_writable(wsi)
        return true
      }
      let write = lws_write_protocol(rawValue: UInt32(way_lws_write_raw))
      guard lws_write(wsi, chunk.baseAddress, chunk.count, write) >= 0 else {
        out.removeAll()
        return false
      }
      if lws_partial_buffered(wsi) != 0 { held = chunk.count }
      out.remove(first: chunk.count)
    }
    return true
  }

  /// LWS_CALLBACK_SERVER_WRITEABLE: lws has sent what it held. Returns what the callback returns.
  func becameWritable() -> Int32 {
    held = 0
    letsPongPass = false
    isHeard = true
    return flush() ? 0 : -1
  }

  private static let pingPayload = Array("life".utf8)

  /// Asks the peer for a sign of life where it has been silent, and closes where it stays so.
  func checkLife(_ patience: Patience) {
    guard case .open = state else { return }
    let wasHeard = isHeard
    isHeard = false
    switch life.pass(patience, isHeard: wasHeard) {
    case .nothing: break
    case .ping:
      // The pong repeats the payload, and lws tells of no pong without one.
      out.append(Self.pingPayload.span.bytes, as: .ping, mask: mask())
      flushLater()
    case .giveUp:
      close(.noPong, "nothing came for \(patience.silence), not even a pong")
    }
  }

  // MARK: Pausing

  /// lws keeps what it has read by now (lws_rx_flow_control).
  func pause() {
    guard let wsi, !isPaused else { return }
    isPaused = true
    _ = lws_rx_flow_control(wsi, 0)
  }

  func resume() {
    guard let wsi, isPaused else { return }
    isPaused = false
    _ = lws_rx_flow_control(wsi, 1)
  }

  // MARK: Closing

  func close(_ code: CloseCode, _ reason: String) {
    guard case .open = state, wsi != nil else { return }
    assembly.removeAll()
    closeCode = code.rawValue
    appendClose(code.rawValue, reason)
    flushLater()
    killTimer = socketLoop.schedule(after: limits.closeTimeout) { [weak self] in self?.kill() }
  }

  /// The close handshake is done here: lws's own ends the connection before its close frame is
  /// sent, when libuv is below and the library was built with assertions, as Debian's is
  /// (lws_service_fd_tsi closes twice).
  private func appendClose(_ code: UInt16, _ reason: String) {
    state = .closing
    var payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
    payload += Self.closeText(reason)
    payload.withUnsafeBytes { out.append($0.bytes, as: .close, mask: mask()) }
  }

  /// Cuts off: lws sees the end of the socket and closes.
  func kill() {
    guard let wsi else { return }
    Glibc.shutdown(lws_get_socket_fd(wsi), Int32(SHUT_RDWR))
  }

  /// The longest prefix of `reason` that a close frame holds (RFC 6455 §5.5), cut between
  /// characters.
  private static func closeText(_ reason: String) -> [UInt8] {
    var text: [UInt8] = []
    for scalar in reason.unicodeScalars {
      let bytes = UTF8.encode(scalar) ?? UTF8.encode("?")
      guard let bytes, text.count + bytes.count <= 123 else { break }
      text.append(contentsOf: bytes)
    }
    return text
  }

  /// LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: `payload` begins with the code, where there is one; lws
  /// has made 1002 of codes that may not be sent. Answers unless this side has closed first; lws
  /// then ends the connection.
  func peerCloses(_ payload: UnsafeRawBufferPointer) {
    guard case .open = state else { return }
    letsPongPass = false
    if payload.count >= 2 {
      let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
      closeCode = code < 5000 ? code : 1002
      if !isUTF8(UnsafeRawBufferPointer(rebasing: payload[2...])) {
        closeCode = CloseCode.invalidPayload.rawValue
      }
      appendClose(closeCode ?? code, "")
    } else if payload.count == 1 {
      // RFC 6455 §5.5.1: a body begins with a code of two bytes.
      closeCode = 1002
      appendClose(1002, "half a close code")
    } else {
      // RFC 6455 §7.1.5: a close frame without a code counts as 1005, which may not be sent.
      closeCode = 1005
      appendClose(1000, "")
    }
    _ = flush()
  }

  /// LWS_CALLBACK_CLOSED.
  func ended() {
    if closeCode == nil, let wsi, lws_get_close_length(wsi) >= 2,
      let payload = lws_get_close_payload(wsi)
    {
      closeCode = UInt16(payload[0]) << 8 | UInt16(payload[1])
    }
    state = .closed
    traffic.closed(closeCode)
    wsi = nil
    killTimer?.cancel()
    killTimer = nil
    out.removeAll()
    assembly.removeAll()
    let receiver = receiver
    self.receiver = nil
    onClosed?()
    onClosed = nil
    receiver?.closed(closeCode)
  }

  // MARK: Receiving

  /// LWS_CALLBACK_RECEIVE: the next part of a message.
  func receive(_ part: UnsafeRawBufferPointer) {
    guard case .open = state, let wsi, let receiver else { return }
    isHeard = true
    traffic.bytesReceived.add(part.count)
    let kind: MessageKind = lws_frame_is_binary(wsi) != 0 ? .binary : .text
    let isLast = lws_is_final_fragment(wsi) != 0
    let room = limits.maximumMessage - assembly.bytes.count - part.count
    if room < 0 || lws_remaining_packet_payload(wsi) > room {
      close(.messageTooBig, "a message holds at most \(limits.maximumMessage) bytes")
      return
    }
    // Texts are checked here, whole: lws would look at every byte, and not see what an empty last
    // part cuts off.
    if isLast, !assembly.isOpen {
      guard kind == .binary || isUTF8(part) else { return refuseText() }
      traffic.messagesReceived.add(1)
      receiver.receive(part.bytes, as: kind)
      return
    }
    assembly.append(part)
    guard isLast else { return }
    guard kind == .binary || assembly.bytes.withUnsafeBytes(isUTF8) else { return refuseText() }
    letsPongPass = true
    traffic.messagesReceived.add(1)
    var message = MessageAssembly()
    swap(&message, &assembly)
    message.bytes.withUnsafeBytes { receiver.receive($0.bytes, as: kind) }
    message.removeAll()
    if case .open = state { swap(&message, &assembly) }
  }

  private func refuseText() {
    close(.invalidPayload, "the text is not UTF-8")
  }
}

/// What a connection may take up.
struct ConnectionLimits: Sendable {
  /// Bytes of one message.
  var maximumMessage: Int
  /// Bytes that may wait to be sent.
  var maximumBuffered: Int
  /// How long a closing connection may take to send what waits.
  var closeTimeout: Duration
}
