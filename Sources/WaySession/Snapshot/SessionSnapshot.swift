import WayRPC
import WayTransport
import WayValues

/// The stored form of a session itself.
struct SessionRecord: Codable {
  let joinToken: String
  let epoch: String
  let identity: IdentityRecord
  /// When the session was opened, in milliseconds since 1970-01-01 UTC.
  var openedAt: Int64?
}

/// The stored state of a session, as read from its parts. Every part is read, so that nothing of a
/// session with a damaged part is restored.
struct SessionSnapshot: Sendable {
  /// A client, with what it may not have received.
  struct ClientSnapshot {
    let id: ClientID
    let record: ClientRecord
    let state: ClientStateRecord
    /// The frames that the client was sent, in the order of the numbers of their last messages.
    fileprivate(set) var frames: [(last: UInt64, bytes: [UInt8])] = []

    /// Returns the client's link. `isComplete` means that everything which has happened in the session
    /// is stored. `now` is in nanoseconds of the loop's clock.
    func link(isComplete: Bool, disconnectedAt now: UInt64) -> ClientLink {
      let outbox = Outbox(
        last: max(state.sent.value, frames.last?.last ?? 0),
        acknowledged: state.acknowledged.value,
        frames: frames.filter { $0.last > state.acknowledged.value })
      var persistence = PersistenceState()
      persistence.isRestored = true
      persistence.reportsRestart = true
      // If a server stopped without a clean end, a client that has not resumed may still have sent it
      // messages.
      persistence.uncertainThrough = isComplete ? record.uncertainThrough?.value ?? 0 : .max
      if let first = frames.first, let last = frames.last {
        persistence.storedFrames = first.last...last.last
      }
      return ClientLink(
        restoring: SequenceState(outbox, received: state.received.value), persistence,
        ResumeCredential(tokens: record.tokens),
        Handshake(
          subprotocol: Handshake.sessionSubprotocol, origin: record.origin, address: record.address),
        numbersMessages: state.numbersMessages, disconnectedAt: now)
    }
  }

  let session: SessionRecord
  private(set) var stack: StackRecord?
  private(set) var pages: [String: OpenPageRecord] = [:]
  private(set) var invitations: InvitationsRecord?
  private(set) var deepLinks: DeepLinksRecord?
  private(set) var gates: SessionGates.GatesRecord?
  /// The clients, in the order of their ids.
  private(set) var clients: [ClientSnapshot] = []
  private(set) var idempotencyKeys: [(key: ScopedKey, record: IdempotencyKeyRecord)] = []

  /// Reads the parts of a session. Fails if one is damaged, missing or unknown.
  init(_ parts: [String: [UInt8]]) throws(RecordDecodingError) {
    session = try Self.decode(.session, of: parts)
    var frames: [ClientID: [(last: UInt64, bytes: [UInt8])]] = [:]
    for (name, bytes) in parts.sorted(by: { $0.key < $1.key }) {
      switch SessionPart(name: name) {
      case .session, .clientState: break
      case .stack: stack = try RecordCoder.decode(from: bytes, name)
      case .invitations: invitations = try RecordCoder.decode(from: bytes, name)
      case .deepLinks: deepLinks = try RecordCoder.decode(from: bytes, name)
      case .gates: gates = try RecordCoder.decode(from: bytes, name)
      case .page(let id): pages[id] = try RecordCoder.decode(from: bytes, name)
      case .idempotencyKey(let key):
        idempotencyKeys.append((key, try RecordCoder.decode(from: bytes, name)))
      case .client(let id):
        clients.append(
          ClientSnapshot(
            id: id, record: try RecordCoder.decode(from: bytes, name),
            state: try Self.decode(.clientState(id), of: parts)))
      case .frame(let last, let client) where MessageNumber(last).value == last:
        frames[client, default: []].append((last, bytes))
      case .frame, nil: throw RecordDecodingError("the part \(name.quoted) is unknown")
      }
    }
    clients.sort { $0.id < $1.id }
    for index in clients.indices {
      clients[index].frames = frames[clients[index].id, default: []].sorted { $0.last < $1.last }
    }
  }

  private static func decode<Record: Decodable>(
    _ part: SessionPart, of parts: [String: [UInt8]]
  ) throws(RecordDecodingError) -> Record {
    guard let bytes = parts[part.name] else {
      throw RecordDecodingError("the part \(part.name.quoted) is missing")
    }
    return try RecordCoder.decode(from: bytes, part.name)
  }
}
