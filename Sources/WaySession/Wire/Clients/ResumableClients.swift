import WayTransport
import WayValues

/// The clients of all sessions of one loop that may resume, and what is kept for them. Confined to
/// that loop.
package final class ResumableClients: @unchecked Sendable {
  /// A session that has clients.
  protocol Home: AnyObject, Sendable {
    /// A client that has no connection cannot resume any more.
    func giveUp(_ id: ClientID)
  }

  private struct Entry {
    weak let home: (any Home)?
    let client: Client
  }

  private let loop: any EventLoop
  /// Who looks for them from other loops.
  private let directory: SessionDirectory
  /// That of the loop.
  private let place: SessionDirectory.Place
  private let maxBytes: Int
  private let maxClientBytes: Int
  private let maxClientMessages: Int
  private var entries: [String: Entry] = [:]
  /// What is kept for all of them.
  @exclusivity(unchecked) package private(set) var bytes = 0
  /// How many were given up.
  package private(set) var givenUpCount = 0
  private var isShedding = false
  /// Whether no session can make room: as long as no further client leaves or loses its connection.
  private var isCrowded = false

  /// `count` loops share what may be kept.
  init(
    _ loop: any EventLoop, limits: Limits, sharedBy count: Int = 1,
    _ directory: SessionDirectory = SessionDirectory(), at place: SessionDirectory.Place = 0
  ) {
    self.place = place
    self.loop = loop
    self.directory = directory
    maxBytes = limits.maxOutboxBytes / max(count, 1)
    maxClientBytes = limits.maxOutbox
    maxClientMessages = limits.maxOutboxMessages
  }

  /// A client may resume.
  func add(_ client: Client, of home: any Home) {
    entries[client.name] = Entry(home: home, client: client)
    directory.add(client: client.name, at: place)
    if client.isAbsent { isCrowded = false }
  }

  /// A client has lost its connection.
  func wentAway() { isCrowded = false }

  /// A client has left, or does not resume.
  func remove(_ client: Client) {
    guard entries.removeValue(forKey: client.name) != nil else { return }
    directory.remove(client: client.name)
    isCrowded = false
    bytes -= client.outboxBytes
    client.outboxBytes = 0
  }

  /// The client of a name, and its session.
  func find(_ name: String) -> (home: any Home, client: Client)? {
    guard let entry = entries[name], let home = entry.home else { return nil }
    return (home, entry.client)
  }

  /// What is kept for a client has changed. Whether it is more than may be.
  @discardableResult
  func count(_ client: Client) -> Bool {
    guard let load = client.numbering?.outbox.load() else { return false }
    bytes += load.bytes - client.outboxBytes
    client.outboxBytes = load.bytes
    if bytes > maxBytes { shed() }
    // A single message may be larger.
    return load.frames > maxClientMessages || load.bytes > maxClientBytes && load.frames > 1
  }

  /// More waits for a client than may. It is given up soon, since this may be the middle of
  /// something, where it has no connection still.
  func overflowed(_ client: Client) {
    loop.execute { [weak self] in self?.giveUp(client) }
  }

  private func giveUp(_ client: Client) {
    guard client.isAbsent, let entry = entries[client.name] else { return }
    directory.giveUp(client: client.name)
    givenUpCount += 1
    entry.home?.giveUp(client.id)
  }

  /// Gives up those for whom most is kept, until it is not too much.
  private func shed() {
    guard !isShedding else { return }
    isShedding = true
    loop.execute { [weak self] in
      guard let self else { return }
      isShedding = false
      let absent = entries.values.filter(\.client.isAbsent)
        .sorted { $0.client.outboxBytes > $1.client.outboxBytes }
      for entry in absent where bytes > maxBytes { giveUp(entry.client) }
      guard bytes > maxBytes else { return }
      let largest = entries.values.max { $0.client.outboxBytes < $1.client.outboxBytes }
      largest?.client.channel?.close(
        .slowConsumer, "more than \(maxBytes) bytes were not acknowledged in all")
    }
  }

  /// Sessions in which nobody has a connection make room for others; true where one did.
  func makeRoom() -> Bool {
    // Whoever is refused a session must not have all others looked at each time.
    if isCrowded { return false }
    // The one that has been away longest is likely to be the first that was numbered.
    let homes = Dictionary(grouping: entries.values.filter { $0.home != nil }) {
      ObjectIdentifier($0.home as AnyObject)
    }
    let deserted = homes.values.filter { $0.allSatisfy(\.client.isAbsent) }
    guard
      let longest = deserted.min(by: { one, other in
        (one.map(\.client.absentSince).max() ?? 0) < (other.map(\.client.absentSince).max() ?? 0)
      })
    else {
      isCrowded = true
      return false
    }
    for entry in longest { giveUp(entry.client) }
    return true
  }
}
