import CLibwebsockets
import Glibc
import Synchronization
import WayTransport

/// The response of an HTTP connection whose body a producer sends in parts.
///
/// It holds memory for bytes only while the client does not accept them.
final class StreamedResponse: HTTPStreamWriter, @unchecked Sendable {  // confined to its loop
  private enum StreamState {
    /// The producer sends parts. Becomes one of the others.
    case open
    /// The producer has ended the body, whose last bytes wait. Becomes `ended`.
    case finishing
    case ended
  }

  /// The id of the connection.
  let id: UInt64
  var loop: any EventLoop { socketLoop }

  private let socketLoop: SocketLoop
  private let descriptor: Int32
  private let framing: StreamFraming
  private let keepAlive: [UInt8]
  private let maxHeldBytes: Int
  private let limits: ConnectionLimits
  private weak var connection: HTTPConnection?
  /// `nil` after the end.
  private var producer: (any HTTPStreamProducer)?
  /// The slot of the address that a proxy names; `nil` if it does not count.
  private var addressSlot: AddressQuota.Slot?
  private var state = StreamState.open
  private var buffer: OutboundBuffer
  /// Whether the socket accepts no more data until it is writable.
  private(set) var isBlocked = false
  private var isUnflushed = false
  private var liveness = StreamLiveness()
  /// Since the last check: whether a part was sent, and whether the socket accepted more data.
  private var hasSent = false
  private var hasBecomeWritable = false
  /// Number of bytes that the socket has accepted, and of those that the peer's system had confirmed
  /// at the last check.
  private var writtenBytes = 0
  private var confirmedBytes = 0
  private let bufferedBytes = Atomic(0)
  /// Number of bytes that other threads have sent and the loop has not received yet.
  private let bytesInTransit = Atomic(0)

  /// - Parameters:
  ///   - connection: The connection, which owns the descriptor.
  ///   - limits: The limits of unsent data, with the budget of the loop.
  ///   - maxHeldBytes: Maximum number of bytes that wait for the client.
  init(
    _ stream: HTTPResponseStream, _ framing: StreamFraming, of connection: HTTPConnection,
    descriptor: Int32, loop: SocketLoop, limits: ConnectionLimits, maxHeldBytes: Int,
    addressSlot: AddressQuota.Slot?
  ) {
    id = connection.id
    socketLoop = loop
    self.descriptor = descriptor
    self.framing = framing
    self.connection = connection
    self.limits = limits
    self.maxHeldBytes = maxHeldBytes
    self.addressSlot = addressSlot
    keepAlive = stream.keepAlive
    producer = stream.producer
    buffer = OutboundBuffer(pool: loop.buffers, budget: limits.outbound)
  }

  /// Queues the head of the response, and starts the producer.
  func start(_ head: [UInt8]) {
    buffer.append(head.span.bytes)
    flushLater()
    socketLoop.execute { [self] in
      if case .open = state { producer?.start(self) }
    }
  }

  /// Lets the producer end the body, because the server shuts down.
  func finishEarly() {
    socketLoop.execute { [self] in
      if case .open = state { producer?.finishEarly(self) }
    }
  }

  var heldBytes: Int {
    bufferedBytes.load(ordering: .relaxed) + bytesInTransit.load(ordering: .relaxed)
  }

  func send(_ part: [UInt8]) {
    if socketLoop.isCurrent { return append(part) }
    bytesInTransit.add(part.count, ordering: .relaxed)
    socketLoop.execute { [self] in
      bytesInTransit.subtract(part.count, ordering: .relaxed)
      append(part)
    }
  }

  func end() {
    socketLoop.perform { [self] in
      guard case .open = state else { return }
      state = .finishing
      framing.appendEnd(to: &buffer)
      flushLater()
    }
  }

  private func append(_ part: [UInt8]) {
    guard case .open = state, !part.isEmpty else { return }
    guard buffer.cost + part.count <= maxHeldBytes else {
      return closeSlowConsumer("more than \(maxHeldBytes) bytes wait for the client")
    }
    let growth = buffer.growth(for: part.count)
    if growth > 0 {
      limits.outbound.reserve(growth)
      // Making room may have closed this stream.
      guard case .open = state else { return }
      guard limits.outbound.hasRoom(growth) else {
        return closeSlowConsumer("more bytes wait for clients than the server may hold")
      }
    }
    framing.append(part, to: &buffer)
    hasSent = true
    flushLater()
    if buffer.count >= Libwebsockets.transmitSize, !isBlocked { flush() }
  }

  private func flushLater() {
    bufferedBytes.store(buffer.cost, ordering: .relaxed)
    guard !isUnflushed else { return }
    isUnflushed = true
    socketLoop.flushLater(self)
  }

  func flushAtTurnEnd() {
    isUnflushed = false
    flush()
  }

  /// The socket accepts data again.
  func becameWritable() {
    guard isBlocked else { return }
    isBlocked = false
    hasBecomeWritable = true
    connection?.watchStream()
    flush()
  }

  /// Writes as much as the socket accepts.
  private func flush() {
    if case .ended = state { return }
    while buffer.count > 0, !isBlocked {
      let sent = buffer.send(to: descriptor)
      if sent < 0, errno == EINTR { continue }
      if sent < 0, errno != EAGAIN {
        close(.disconnected)
        return
      }
      if sent < 0 {
        isBlocked = true
        connection?.watchStream()
      } else {
        writtenBytes += sent
        buffer.remove(first: sent)
      }
    }
    bufferedBytes.store(buffer.cost, ordering: .relaxed)
    if case .finishing = state, buffer.count == 0 {
      ended(.completed)
      connection?.streamCompleted()
    }
  }

  private func close(_ end: HTTPStreamEnd) {
    ended(end)
    connection?.close()
  }

  /// Records the end of the stream, and notifies the producer when the loop has time: thousands of
  /// clients may disconnect at once. Idempotent.
  func ended(_ end: HTTPStreamEnd) {
    if case .ended = state { return }
    state = .ended
    buffer.removeAll()
    bufferedBytes.store(0, ordering: .relaxed)
    addressSlot = nil
    socketLoop.traffic.recordStreamEnd(end)
    let producer = producer
    self.producer = nil
    socketLoop.executeInShare { producer?.ended(end) }
  }
}

extension StreamedResponse: OutboundConnection {
  var openQueueSize: Int? { if case .ended = state { nil } else { buffer.capacity } }

  func closeSlowConsumer(_ reason: String) { close(.slowConsumer) }

  /// Sends the bytes that keep the connection open, or closes it if the client is lost.
  func checkLiveness(every interval: Duration, _ serverLimits: Limits) {
    if case .ended = state { return }
    var unconfirmed: Int32 = 0
    // Unsent and unacknowledged bytes (SIOCOUTQ of tcp(7)).
    _ = ioctl(descriptor, UInt(TIOCOUTQ), &unconfirmed)
    let confirmed = writtenBytes - Int(unconfirmed)
    let isCongested = buffer.count > limits.highWater
    let action = liveness.advance(
      by: interval, ping: serverLimits.ping,
      maxStall: isCongested ? limits.stallTimeout : serverLimits.silence,
      hasSent: hasSent, isAwaited: unconfirmed > 0 || buffer.count > 0,
      hasProgress: hasBecomeWritable || confirmed > confirmedBytes)
    hasSent = false
    hasBecomeWritable = false
    confirmedBytes = confirmed
    switch action {
    case .nothing: break
    case .keepAlive: append(keepAlive)
    case .expire: close(buffer.count > 0 ? .slowConsumer : .disconnected)
    }
  }
}
