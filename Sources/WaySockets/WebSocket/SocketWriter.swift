import CLibwebsockets
import Glibc
import WayTransport

/// Queues the frames of one connection, and writes them to its socket.
struct SocketWriter: ~Copyable {
  private let isClient: Bool
  private var out: OutboundBuffer
  /// Bytes of a client that lws has copied because the socket would not take them.
  private var held = 0
  /// The socket takes no more until WRITEABLE.
  private var isBlocked = false

  init(isClient: Bool, pool: BufferPool, budget: SocketQueueBudget) {
    self.isClient = isClient
    out = OutboundBuffer(pool: pool, budget: budget)
  }

  /// Bytes of memory that what waits takes up.
  var cost: Int { out.cost + held }
  /// Bytes of the memory that is held for it.
  var capacity: Int { out.capacity }
  var isEmpty: Bool { out.count == 0 }
  /// Whether it is time to write before the turn ends.
  var isDue: Bool { out.count >= Libwebsockets.transmitSize && !isBlocked }

  /// Bytes of memory that a frame needs anew.
  func growth(for payloadSize: Int) -> Int { out.growth(for: payloadSize) }

  /// A client's frames are masked, each with a key of its own (RFC 6455 §5.3).
  mutating func append(_ payload: RawSpan, as opcode: FrameHeader.Opcode) {
    out.append(payload, as: opcode, mask: isClient ? UInt32.random(in: 0...(.max)) : nil)
  }

  mutating func removeUnsent() { out.removeUnsent() }

  mutating func removeAll() { out.removeAll() }

  /// WRITEABLE: lws has sent what it held.
  mutating func becameWritable() {
    held = 0
    isBlocked = false
  }

  /// Writes as much as the socket takes. Returns false where it has failed.
  mutating func write(to wsi: OpaquePointer) -> Bool {
    if isBlocked { return true }
    if isClient ? writeFrames(to: wsi) : writeBytes(to: wsi) { return true }
    out.removeAll()
    return false
  }

  /// Writes past lws, which would copy what the socket does not take, and read nothing meanwhile.
  private mutating func writeBytes(to wsi: OpaquePointer) -> Bool {
    let descriptor = lws_get_socket_fd(wsi)
    while out.count > 0, !isBlocked {
      let sent = out.send(to: descriptor)
      if sent < 0, errno == EINTR { continue }
      if sent < 0, errno != EAGAIN { return false }
      if sent < 0 {
        isBlocked = true
        lws_callback_on_writable(wsi)
      } else {
        out.remove(first: sent)
      }
    }
    return true
  }

  /// lws writes frames of its own on a client's connection, so all that is written goes by it.
  private mutating func writeFrames(to wsi: OpaquePointer) -> Bool {
    while let chunk = out.chunk(limit: Libwebsockets.transmitSize) {
      if lws_partial_buffered(wsi) != 0 {
        lws_callback_on_writable(wsi)
        return true
      }
      let write = lws_write_protocol(rawValue: UInt32(way_lws_write_raw))
      guard lws_write(wsi, chunk.baseAddress, chunk.count, write) >= 0 else { return false }
      if lws_partial_buffered(wsi) != 0 { held = chunk.count }
      out.remove(first: chunk.count)
    }
    return true
  }
}
