import CWayNATS
import DequeModule
import WayTransport

/// Sends messages between servers on subjects of NATS: to one server, or to all. No messages are
/// stored. May be used on any thread.
final class NATSMessenger: @unchecked Sendable {  // the library's pointers are safe on all threads
  private static let subjectPrefix = "waybridge.server."
  /// The subject for messages to all servers.
  private static let broadcastSubject = subjectPrefix + "all"
  /// Bytes that may wait for this server. If there are more, messages are dropped, which their
  /// numbers show.
  private static let maxPendingBytes: Int32 = 256 << 20
  /// Bytes that may wait to be sent. Further messages are dropped.
  private static let maxQueuedBytes = 256 << 20

  private struct SendQueue {
    var messages: Deque<(subject: String, bytes: [UInt8])> = []
    var bytes = 0
    var isClosed = false
  }

  private let endpoint: String
  private let connection: OpaquePointer
  private let listener = NATSListener()
  private var subscriptions: [OpaquePointer] = []
  private let sendQueue = Locked(SendQueue())
  private let worker = NATSWorkerThread()

  init(_ address: NATSAddress) throws(NATSClusterError) {
    let endpoint = address.endpoint
    self.endpoint = endpoint
    var options: OpaquePointer?
    defer { natsOptions_Destroy(options) }
    var connection: OpaquePointer?
    func check(_ status: natsStatus, _ operation: String) throws(NATSClusterError) {
      guard status != NATS_OK else { return }
      natsConnection_Destroy(connection)
      throw NATSClusterError(endpoint, operation, status)
    }
    try check(NATSOptions.make(&options, address), "the address is invalid")
    // Messages are sent at once, without a delay of a millisecond.
    try check(natsOptions_SetSendAsap(options, true), "the connection cannot be created")
    // The server does not receive its own messages to all servers.
    try check(natsOptions_SetNoEcho(options, true), "the connection cannot be created")
    // The library's threads may call the listener after the connection was closed: it is never
    // freed.
    try check(
      natsOptions_SetDisconnectedCB(
        options, { _, listener in NATSListener.from(listener)?.reportMessagesLost() },
        Unmanaged.passRetained(listener).toOpaque()), "the connection cannot be created")
    try check(natsConnection_Connect(&connection, options), "the connection failed")
    guard let connection else {
      throw NATSClusterError(endpoint, "the connection cannot be created")
    }
    self.connection = connection
  }

  /// The maximum size of one message, in bytes.
  var maxMessage: Int { Int(natsConnection_GetMaxPayload(connection)) }

  /// Receives messages for a server from now on, in the order in which each sender has sent them.
  /// Call once.
  func listen(
    as server: String, messageReceived: @escaping @Sendable ([UInt8]) -> Void,
    messagesLost: @escaping @Sendable () -> Void
  ) throws(NATSClusterError) {
    listener.start(messageReceived, messagesLost)
    for subject in [Self.subject(server), Self.broadcastSubject] {
      var subscription: OpaquePointer?
      let status = natsConnection_Subscribe(
        &subscription, connection, subject,
        { _, _, message, listener in
          NATSListener.from(listener)?.receive(message)
          natsMsg_Destroy(message)
        }, Unmanaged.passUnretained(listener).toOpaque())
      guard status == NATS_OK, let subscription else {
        throw NATSClusterError(endpoint, "messages of other servers cannot be received", status)
      }
      natsSubscription_SetPendingLimits(subscription, -1, Self.maxPendingBytes)
      subscriptions.append(subscription)
    }
  }

  /// Sends a message to one server, or to all. Never blocks.
  func send(_ bytes: [UInt8], to server: String?) {
    let subject = server.map(Self.subject) ?? Self.broadcastSubject
    let isFirst = sendQueue.withLock { queue -> Bool in
      guard !queue.isClosed, queue.bytes + bytes.count <= Self.maxQueuedBytes else {
        return false
      }
      queue.messages.append((subject, bytes))
      queue.bytes += bytes.count
      return queue.messages.count == 1
    }
    if isFirst { worker.run { [self] in flush() } }
  }

  /// Runs on a thread of its own: a nats-server that does not read blocks no other thread.
  private func flush() {
    while true {
      let messages = sendQueue.withLock { queue in
        defer { (queue.messages, queue.bytes) = ([], 0) }
        return queue.messages
      }
      guard !messages.isEmpty else { return }
      for (subject, bytes) in messages {
        bytes.withUnsafeBytes { bytes in
          // The receiver notices a message that cannot be sent by its number.
          _ = natsConnection_Publish(connection, subject, bytes.baseAddress, Int32(bytes.count))
        }
      }
    }
  }

  /// Stops receiving messages, and sends those that wait.
  func end() {
    listener.stop()
    let isIdle = sendQueue.withLock { queue in
      queue.isClosed = true
      return queue.messages.isEmpty
    }
    if !isIdle { worker.run { [self] in flush() } }
    worker.finish()
    natsConnection_FlushTimeout(connection, 1_000)
  }

  deinit {
    natsConnection_Close(connection)
    for subscription in subscriptions { natsSubscription_Destroy(subscription) }
    natsConnection_Destroy(connection)
  }

  private static func subject(_ server: String) -> String { subjectPrefix + "to." + server }
}
