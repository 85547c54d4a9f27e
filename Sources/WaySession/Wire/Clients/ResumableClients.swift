import WayTransport
import WayValues

/// The resumable clients of all sessions of one loop, and the bytes held for them. Confined to that
/// loop.
package final class ResumableClients: @unchecked Sendable {
  /// A session that has clients.
  protocol ResumableSession: AnyObject, Sendable {
    var id: String { get }
    /// The clients that it has now.
    var currentClients: [Client] { get }
    /// Discards a disconnected client, which cannot resume any more.
    func discardClient(_ id: ClientID)
  }

  fileprivate struct ResumableClient {
    weak let session: (any ResumableSession)?
    let client: Client
  }

  /// A session without connected clients.
  private struct DisconnectedSession {
    let id: String
    weak let session: (any ResumableSession)?
  }

  /// A search for the clients with the largest outboxes, which visits one client at a time.
  struct OutboxSearch {
    /// The number of disconnected clients to find.
    private static let maxFound = 64

    fileprivate var position: SessionRegistry<ResumableClient>.Position
    /// Disconnected clients, among them those with the largest outboxes.
    fileprivate var disconnected: [Client] = []
    /// The connected client with the largest outbox.
    fileprivate var connected: Client?

    fileprivate mutating func add(_ client: Client) {
      guard client.isDisconnected else {
        if client.link.outboxBytes > connected?.link.outboxBytes ?? 0 { connected = client }
        return
      }
      disconnected.append(client)
      if disconnected.count == 2 * Self.maxFound { selectLargest() }
    }

    /// Keeps the disconnected clients with the largest outboxes, the largest first.
    fileprivate mutating func selectLargest() {
      disconnected.sort { $0.link.outboxBytes > $1.link.outboxBytes }
      disconnected.removeLast(max(disconnected.count - Self.maxFound, 0))
    }
  }

  private let loop: any EventLoop
  /// The directory through which other loops find the clients.
  private let directory: SessionDirectory
  /// The index of this loop.
  private let loopIndex: SessionDirectory.LoopIndex
  private let maxBytes: Int
  private let maxClientBytes: Int
  private let maxClientMessages: Int
  /// By the names of the clients.
  private var entries = SessionRegistry<ResumableClient>()
  /// In the order in which they were disconnected.
  private var disconnected = SessionRegistry<DisconnectedSession>()
  /// The bytes held for all clients.
  @exclusivity(unchecked) package private(set) var bytes = 0
  /// The number of discarded clients.
  package private(set) var discardedCount = 0
  /// Whether clients are being discarded because all outboxes together are too large.
  private var isShedding = false
  /// Starts to discard clients until all outboxes together are within the limit. It has to use
  /// ``startSearch()``, and ``endShedding()`` at the end.
  var onExcess: (() -> Void)?

  /// Creates the registry of one loop; `count` loops share the limit of bytes.
  init(
    _ loop: any EventLoop, limits: Limits, sharedBy count: Int = 1,
    _ directory: SessionDirectory = SessionDirectory(), at loopIndex: SessionDirectory.LoopIndex = 0
  ) {
    self.loopIndex = loopIndex
    self.loop = loop
    self.directory = directory
    maxBytes = limits.maxOutboxBytes / max(count, 1)
    maxClientBytes = limits.maxOutbox
    maxClientMessages = limits.maxOutboxMessages
  }

  /// Adds a client that may resume.
  func add(_ client: Client, of session: any ResumableSession) {
    entries.add(ResumableClient(session: session, client: client), id: client.name)
    directory.add(client: client.name, at: loopIndex)
    connectionChanged(in: session)
  }

  /// Records that a client of a session has lost its connection, or has another one.
  func connectionChanged(in session: any ResumableSession) {
    if !hasOnlyDisconnectedClients(session) {
      disconnected.remove(session.id)
    } else if disconnected[session.id] == nil {
      disconnected.add(DisconnectedSession(id: session.id, session: session), id: session.id)
    }
  }

  private func hasOnlyDisconnectedClients(_ session: any ResumableSession) -> Bool {
    let clients = session.currentClients
    return !clients.isEmpty && clients.allSatisfy(\.isDisconnected)
  }

  /// Removes a client that has left its session, or does not resume.
  func remove(_ client: Client, of session: any ResumableSession) {
    connectionChanged(in: session)
    remove(client)
  }

  private func remove(_ client: Client) {
    guard entries[client.name] != nil else { return }
    entries.remove(client.name)
    directory.remove(client: client.name)
    bytes -= client.link.stopCountingOutbox()
  }

  /// The client with a name, and its session.
  func find(_ name: String) -> (home: any ResumableSession, client: Client)? {
    guard let entry = entries[name], let session = entry.session else { return nil }
    return (session, entry.client)
  }

  /// Updates the bytes held for a client. Returns whether they exceed its limit.
  @discardableResult
  func updateOutboxSize(_ client: Client) -> Bool {
    guard let (load, growth) = client.link.countOutbox() else { return false }
    bytes += growth
    if bytes > maxBytes { shed() }
    // A single message may be larger than the limit.
    return load.frames > maxClientMessages || load.bytes > maxClientBytes && load.frames > 1
  }

  /// Discards a client that exceeds its limit, if it is still disconnected then. This happens later
  /// on the loop, since the caller may be in the middle of an operation.
  func scheduleDiscard(_ client: Client) {
    loop.execute { [weak self] in self?.discard(client) }
  }

  private func discard(_ client: Client) {
    guard client.isDisconnected, let entry = entries[client.name] else { return }
    guard let session = entry.session else { return remove(client) }
    directory.recordDiscarded(client: client.name)
    discardedCount += 1
    session.discardClient(client.id)
  }

  private func shed() {
    guard !isShedding else { return }
    isShedding = true
    onExcess?()
  }

  /// Whether all outboxes together are too large.
  var exceedsLimit: Bool { bytes > maxBytes }

  /// Starts a search for the clients with the largest outboxes.
  func startSearch() -> OutboxSearch { OutboxSearch(position: entries.start) }

  /// Visits the next client. Returns whether there was one.
  func continueSearch(_ search: inout OutboxSearch) -> Bool {
    guard let entry = entries.next(&search.position) else {
      search.selectLargest()
      return false
    }
    search.add(entry.client)
    return true
  }

  /// Discards the found client with the largest outbox, unless it has reconnected. Returns false if
  /// no client is left or has to be discarded.
  func discardNext(_ search: inout OutboxSearch) -> Bool {
    guard exceedsLimit, !search.disconnected.isEmpty else { return false }
    discard(search.disconnected.removeFirst())
    return true
  }

  /// Closes the connection of the found client with the largest outbox if no client is disconnected.
  /// Returns false if one is.
  func closeConnected(_ search: OutboxSearch) -> Bool {
    guard search.disconnected.isEmpty else { return false }
    search.connected?.channel?.close(
      .slowConsumer, "more than \(maxBytes) bytes of all clients are unacknowledged")
    return true
  }

  /// Ends what ``onExcess`` has started.
  func endShedding() { isShedding = false }

  /// Discards the clients of the session that has been without connected clients longest, to make
  /// room. Returns whether there was one. Its cost is that of the sessions which it removes.
  func makeRoom() -> Bool {
    var position = disconnected.start
    while let entry = disconnected.next(&position) {
      guard let session = entry.session, hasOnlyDisconnectedClients(session) else {
        disconnected.remove(entry.id)
        continue
      }
      for client in session.currentClients { discard(client) }
      return true
    }
    return false
  }
}
