import CWayNATS
import DequeModule
import WayTransport

/// Messages among servers, on subjects of NATS: what is sent to one server, and what is for all.
/// Nothing of it is kept. May be used on any thread.
final class NATSMessenger: @unchecked Sendable {  // the library's pointers are safe on all threads
  private static let prefix = "waybridge.server."
  /// Where all servers listen.
  private static let everybody = prefix + "all"
  /// Bytes that may wait for this server; more, and some are dropped, which shows by their numbers.
  private static let maxPending: Int32 = 256 << 20
  /// Bytes that may wait to be sent; what is more is dropped.
  private static let maxWaiting = 256 << 20

  private struct Waiting {
    var messages: Deque<(subject: String, bytes: [UInt8])> = []
    var bytes = 0
    var isOver = false
  }

  private let place: String
  private let connection: OpaquePointer
  private let listener = Listener()
  private var subscriptions: [OpaquePointer] = []
  private let waiting = Locked(Waiting())
  private let sender = NATSWorkerThread()

  init(_ address: NATSAddress) throws(NATSClusterError) {
    let place = address.place
    self.place = place
    var options: OpaquePointer?
    defer { natsOptions_Destroy(options) }
    var connection: OpaquePointer?
    func check(_ status: natsStatus, _ what: String) throws(NATSClusterError) {
      guard status != NATS_OK else { return }
      natsConnection_Destroy(connection)
      throw NATSClusterError(place, what, status)
    }
    try check(NATSOptions.make(&options, address), "the address is none")
    // What is sent goes out at once, and not a millisecond later.
    try check(natsOptions_SetSendAsap(options, true), "the connection cannot be made")
    // What the server sends to all is not for itself.
    try check(natsOptions_SetNoEcho(options, true), "the connection cannot be made")
    // The library's threads may call it when the connection is closed already: it is never freed.
    try check(
      natsOptions_SetDisconnectedCB(
        options, { _, listener in Listener.of(listener)?.cutOff() },
        Unmanaged.passRetained(listener).toOpaque()), "the connection cannot be made")
    try check(natsConnection_Connect(&connection, options), "no connection can be made")
    guard let connection else { throw NATSClusterError(place, "the connection cannot be made") }
    self.connection = connection
  }

  /// Bytes of one message, at most.
  var maxMessage: Int { Int(natsConnection_GetMaxPayload(connection)) }

  /// Hears what is for a server from now on, in the order in which each other has sent it. Call once.
  func listen(
    as server: String, received: @escaping @Sendable ([UInt8]) -> Void,
    cutOff: @escaping @Sendable () -> Void
  ) throws(NATSClusterError) {
    listener.begin(received, cutOff)
    for subject in [Self.subject(server), Self.everybody] {
      var subscription: OpaquePointer?
      let status = natsConnection_Subscribe(
        &subscription, connection, subject,
        { _, _, message, listener in
          Listener.of(listener)?.take(message)
          natsMsg_Destroy(message)
        }, Unmanaged.passUnretained(listener).toOpaque())
      guard status == NATS_OK, let subscription else {
        throw NATSClusterError(place, "messages of other servers cannot be received", status)
      }
      natsSubscription_SetPendingLimits(subscription, -1, Self.maxPending)
      subscriptions.append(subscription)
    }
  }

  /// Sends to a server, or to all. Never waits.
  func send(_ bytes: [UInt8], to server: String?) {
    let subject = server.map(Self.subject) ?? Self.everybody
    let isFirst = waiting.withLock { waiting -> Bool in
      guard !waiting.isOver, waiting.bytes + bytes.count <= Self.maxWaiting else { return false }
      waiting.messages.append((subject, bytes))
      waiting.bytes += bytes.count
      return waiting.messages.count == 1
    }
    if isFirst { sender.run { [self] in sendWaiting() } }
  }

  /// On a thread of its own: an engine that takes nothing keeps nobody else waiting.
  private func sendWaiting() {
    while true {
      let messages = waiting.withLock { waiting in
        defer { (waiting.messages, waiting.bytes) = ([], 0) }
        return waiting.messages
      }
      guard !messages.isEmpty else { return }
      for (subject, bytes) in messages {
        bytes.withUnsafeBytes { bytes in
          // What cannot be sent is missing there, which shows by its number.
          _ = natsConnection_Publish(connection, subject, bytes.baseAddress, Int32(bytes.count))
        }
      }
    }
  }

  /// Hears nothing more, and sends what has waited.
  func end() {
    listener.end()
    let isIdle = waiting.withLock { waiting in
      waiting.isOver = true
      return waiting.messages.isEmpty
    }
    if !isIdle { sender.run { [self] in sendWaiting() } }
    sender.finish()
    natsConnection_FlushTimeout(connection, 1_000)
  }

  deinit {
    natsConnection_Close(connection)
    for subscription in subscriptions { natsSubscription_Destroy(subscription) }
    natsConnection_Destroy(connection)
  }

  private static func subject(_ server: String) -> String { prefix + "to." + server }
}
