import CLibwebsockets
import Glibc
import WayTransport

/// Queues the frames of one connection, and writes them to its socket.
struct SocketWriter: ~Copyable {
  private let isClient: Bool
  private var buffer: OutboundBuffer
  /// Number of a client's bytes that lws has copied because the socket did not accept them.
  private var heldBytes = 0
  /// The socket accepts no more data until WRITEABLE.
  private var isBlocked = false

  init(isClient: Bool, pool: BufferPool, budget: SocketMemoryBudget) {
    self.isClient = isClient
    buffer = OutboundBuffer(pool: pool, budget: budget)
  }

  /// Number of bytes of memory that unsent data uses.
  var cost: Int { buffer.cost + heldBytes }
  /// Number of bytes of memory that is allocated for unsent data.
  var capacity: Int { buffer.capacity }
  var isEmpty: Bool { buffer.count == 0 }
  /// Whether to write before the turn ends.
  var isFlushDue: Bool { buffer.count >= Libwebsockets.transmitSize && !isBlocked }

  /// Number of bytes of new memory that a frame needs.
  func growth(for payloadSize: Int) -> Int { buffer.growth(for: payloadSize) }

  /// Queues a frame. A client's frames are masked, each with its own key (RFC 6455 §5.3).
  mutating func append(_ payload: RawSpan, as opcode: FrameHeader.Opcode) {
    buffer.append(payload, as: opcode, mask: isClient ? UInt32.random(in: 0...(.max)) : nil)
  }

  mutating func removeUnsent() { buffer.removeUnsent() }

  mutating func removeAll() { buffer.removeAll() }

  /// WRITEABLE: lws has sent its buffered data.
  mutating func becameWritable() {
    heldBytes = 0
    isBlocked = false
  }

  /// Writes as much as the socket accepts. Returns false if the socket has failed.
  mutating func write(to wsi: OpaquePointer) -> Bool {
    if isBlocked { return true }
    if isClient ? writeFrames(to: wsi) : writeBytes(to: wsi) { return true }
    buffer.removeAll()
    return false
  }

  /// Writes directly to the socket. lws would copy the data that the socket does not accept, and
  /// stop reading meanwhile.
  private mutating func writeBytes(to wsi: OpaquePointer) -> Bool {
    let descriptor = lws_get_socket_fd(wsi)
    while buffer.count > 0, !isBlocked {
      let sent = buffer.send(to: descriptor)
      if sent < 0, errno == EINTR { continue }
      if sent < 0, errno != EAGAIN { return false }
      if sent < 0 {
        isBlocked = true
        lws_callback_on_writable(wsi)
      } else {
        buffer.remove(first: sent)
      }
    }
    return true
  }

  /// Writes through lws, because lws also writes its own frames on a client's connection.
  private mutating func writeFrames(to wsi: OpaquePointer) -> Bool {
    while let chunk = buffer.chunk(limit: Libwebsockets.transmitSize) {
      if lws_partial_buffered(wsi) != 0 {
        lws_callback_on_writable(wsi)
        return true
      }
      let write = lws_write_protocol(rawValue: UInt32(way_lws_write_raw))
      guard lws_write(wsi, chunk.baseAddress, chunk.count, write) >= 0 else { return false }
      if lws_partial_buffered(wsi) != 0 { heldBytes = chunk.count }
      buffer.remove(first: chunk.count)
    }
    return true
  }
}
