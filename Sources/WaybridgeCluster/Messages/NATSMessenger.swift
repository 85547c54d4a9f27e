import CWayNATS
import DequeModule
import Dispatch
import WaySession
import WayTransport

/// Sends messages between servers on subjects of NATS: to one server, or to all. No messages are
/// stored. If the cluster has a secret, they are sealed, and others are rejected. May be used on any
/// thread.
final class NATSMessenger: @unchecked Sendable {  // the library's pointers are safe on all threads
  /// Bytes that may wait for this server. If there are more, messages are dropped, which their
  /// numbers show.
  private static let maxPendingBytes: Int32 = 256 << 20
  /// The maximum length of the name of a server that seals messages, in bytes.
  private static let maxServerName = 64
  /// Bytes that may wait to be sent. Further messages are dropped.
  private static let maxQueuedBytes = 256 << 20

  private struct SendQueue {
    var messages: Deque<(subject: String, bytes: [UInt8])> = []
    var bytes = 0
    var isClosed = false
  }

  /// The address without user and password.
  let endpoint: String
  private let names: NATSClusterNames
  private let connection: OpaquePointer
  private let listener = NATSListener()
  private var subscriptions: [OpaquePointer] = []
  private let sendQueue = Locked(SendQueue())
  private let worker = NATSWorkerThread()
  private let secretFile: NATSClusterSecretFile?
  /// Seals messages since ``listen(as:_:)``; nil if the cluster has no secret.
  private let sealer = Locked<PeerMessageSealer?>(nil)
  private let opener: Locked<PeerMessageOpener>

  init(_ configuration: NATSClusterConfiguration) throws(NATSClusterError) {
    let endpoint = configuration.address.endpoint
    self.endpoint = endpoint
    names = configuration.names
    secretFile = configuration.secretFile
    opener = Locked(PeerMessageOpener(configuration.secretFile?.secrets, configuration.names))
    let options = try NATSOptions.make(configuration)
    defer { natsOptions_Destroy(options) }
    var connection: OpaquePointer?
    func check(_ status: natsStatus, _ operation: String) throws(NATSClusterError) {
      guard status != NATS_OK else { return }
      natsConnection_Destroy(connection)
      throw NATSClusterError(endpoint, operation, status)
    }
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
    try check(NATSOptions.connect(&connection, options), "the connection failed")
    guard let connection else {
      throw NATSClusterError(endpoint, "the connection cannot be created")
    }
    self.connection = connection
  }

  /// The maximum size of one message, in bytes.
  var maxMessage: Int {
    let limit = Int(natsConnection_GetMaxPayload(connection))
    return secretFile == nil ? limit : limit - PeerMessageHeader.overhead - Self.maxServerName
  }

  /// The names of the secrets, the one that seals messages first.
  var secretNames: [String] { secretFile?.secrets.names ?? [] }

  /// Whether messages are sealed.
  var sealsMessages: Bool { secretFile != nil }

  /// Uses other secrets from now on. Returns false, with nothing changed, if memory is short.
  func use(_ secrets: NATSClusterSecrets) -> Bool {
    let isSealerReady = sealer.withLock { $0?.use(secrets) ?? true }
    guard isSealerReady else { return false }
    opener.withLock { $0.secrets = secrets }
    return true
  }

  /// Receives messages for a server from now on, in the order in which each sender has sent them.
  /// Call once.
  func listen(as server: String, _ handlers: ClusterHandlers) throws(NATSClusterError) {
    if let secretFile {
      guard server.utf8.count <= Self.maxServerName,
        let sealer = PeerMessageSealer(secretFile.secrets, cluster: names.cluster, sender: server)
      else { throw NATSClusterError(endpoint, "messages to other servers cannot be sealed") }
      self.sealer.withLock { $0 = sealer }
    }
    listener.start(
      { [opener] bytes, subject in
        do throws(PeerMessageRejection) {
          let message = try opener.withLock { (opener) throws(PeerMessageRejection) in
            try opener.open(bytes, on: subject, at: NATSClusterClock.wallMilliseconds)
          }
          handlers.messageReceived(message)
        } catch .unconfirmed(let sender) {
          handlers.unconfirmedSender(sender)
        } catch {
          handlers.messageRejected("\(error)")
        }
      }, handlers.messagesLost)
    for subject in [names.serverSubject(of: server), names.broadcastSubject] {
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
    let subject = server.map(names.serverSubject) ?? names.broadcastSubject
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
      for (subject, message) in messages {
        // The receiver notices a message that cannot be sent by its number.
        guard let bytes = seal(message, for: subject) else { continue }
        bytes.withUnsafeBytes { bytes in
          _ = natsConnection_Publish(connection, subject, bytes.baseAddress, Int32(bytes.count))
        }
      }
    }
  }

  /// Returns a message as it is sent; nil if it cannot be sealed.
  private func seal(_ message: [UInt8], for subject: String) -> [UInt8]? {
    guard secretFile != nil else { return message }
    return sealer.withLock {
      $0?.seal(message, for: subject, at: NATSClusterClock.wallMilliseconds)
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
}

/// A thread for work that may block.
final class NATSWorkerThread: Sendable {
  private let queue = DispatchQueue(label: "waybridge.post")

  func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Returns when all submitted work has run.
  func finish() { queue.sync {} }
}
