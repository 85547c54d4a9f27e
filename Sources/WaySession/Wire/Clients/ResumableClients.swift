import WayTransport
import WayValues

/// The resumable clients of all sessions of one loop, and the bytes held for them. Confined to that
/// loop.
package final class ResumableClients: @unchecked Sendable {
  /// A session that has clients.
  protocol ResumableSession: AnyObject, Sendable {
    /// Discards a disconnected client, which cannot resume any more.
    func discardClient(_ id: ClientID)
  }

  private struct ResumableClient {
    weak let session: (any ResumableSession)?
    let client: Client
  }

  private let loop: any EventLoop
  /// The directory through which other loops find the clients.
  private let directory: SessionDirectory
  /// The index of this loop.
  private let loopIndex: SessionDirectory.LoopIndex
  private let maxBytes: Int
  private let maxClientBytes: Int
  private let maxClientMessages: Int
  private var entries: [String: ResumableClient] = [:]
  /// The bytes held for all clients.
  @exclusivity(unchecked) package private(set) var bytes = 0
  /// The number of discarded clients.
  package private(set) var discardedCount = 0
  private var isShedding = false
  /// Whether no session can make room. Reset when a client leaves or loses its connection.
  private var hasNoRoom = false

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
    entries[client.name] = ResumableClient(session: session, client: client)
    directory.add(client: client.name, at: loopIndex)
    if client.isDisconnected { hasNoRoom = false }
  }

  /// Records that a client has lost its connection.
  func noteDisconnect() { hasNoRoom = false }

  /// Removes a client that has left, or does not resume.
  func remove(_ client: Client) {
    guard entries.removeValue(forKey: client.name) != nil else { return }
    directory.remove(client: client.name)
    hasNoRoom = false
    bytes -= client.outboxBytes
    client.outboxBytes = 0
  }

  /// The client with a name, and its session.
  func find(_ name: String) -> (home: any ResumableSession, client: Client)? {
    guard let entry = entries[name], let session = entry.session else { return nil }
    return (session, entry.client)
  }

  /// Updates the bytes held for a client. Returns whether they exceed its limit.
  @discardableResult
  func updateOutboxSize(_ client: Client) -> Bool {
    guard let load = client.sequence?.outbox.currentSize() else { return false }
    bytes += load.bytes - client.outboxBytes
    client.outboxBytes = load.bytes
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
    directory.recordDiscarded(client: client.name)
    discardedCount += 1
    entry.session?.discardClient(client.id)
  }

  /// Discards the disconnected clients with the largest outboxes until the total is within the
  /// limit.
  private func shed() {
    guard !isShedding else { return }
    isShedding = true
    loop.execute { [weak self] in
      guard let self else { return }
      isShedding = false
      let absent = entries.values.filter(\.client.isDisconnected)
        .sorted { $0.client.outboxBytes > $1.client.outboxBytes }
      for entry in absent where bytes > maxBytes { discard(entry.client) }
      guard bytes > maxBytes else { return }
      let largest = entries.values.max { $0.client.outboxBytes < $1.client.outboxBytes }
      largest?.client.channel?.close(
        .slowConsumer, "more than \(maxBytes) bytes of all clients are unacknowledged")
    }
  }

  /// Discards the clients of one session that has no connected client, to make room. Returns
  /// whether there was one.
  func makeRoom() -> Bool {
    // Rejected requests for a session must not each search all sessions.
    if hasNoRoom { return false }
    // The session that has been disconnected longest is likely to be the first to expire.
    let homes = Dictionary(grouping: entries.values.filter { $0.session != nil }) {
      ObjectIdentifier($0.session as AnyObject)
    }
    let deserted = homes.values.filter { $0.allSatisfy(\.client.isDisconnected) }
    guard
      let longest = deserted.min(by: { one, other in
        (one.map(\.client.disconnectedAt).max() ?? 0)
          < (other.map(\.client.disconnectedAt).max() ?? 0)
      })
    else {
      hasNoRoom = true
      return false
    }
    for entry in longest { discard(entry.client) }
    return true
  }
}
