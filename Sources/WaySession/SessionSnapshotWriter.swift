import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Writes the stored state of a session: the store operations for each of its parts.
/// ``SessionSnapshotReader`` reads it.
enum SessionSnapshotWriter {
  private typealias ChangeStep = SessionChange.ChangeStep

  /// Returns the store operations for some parts, or for all parts if `parts` is `nil`. `number` is
  /// the number of the change.
  ///
  /// `isAwaited` is true if messages wait for the change. Then all frames that were sent to clients
  /// are stored with it.
  static func steps(
    for parts: Set<String>?, isAwaited: Bool, number: Int, in session: isolated Session
  ) -> [SessionChange.ChangeStep] {
    let isWhole = parts == nil
    let calls = Dictionary(grouping: session.calls.ofClients) { $0.caller.client?.id ?? 0 }
    var steps: [ChangeStep] = []
    for part in (parts ?? allKeys(in: session)).sorted() {
      if let id = RecordKey.suffix(of: part, "at").flatMap({ ClientID($0) }) {
        if isWhole { session.clients[id]?.link.persistence.storedFrames = nil }
        steps += stateSteps(
          of: id, calls[id] ?? [], isAwaited, isWhole: isWhole, number, in: session)
      } else {
        let members = record(of: part, in: session)
        steps.append(
          members.map { .put(part: part, bytes: StoredRecord.encode($0)) } ?? .remove(part: part))
      }
    }
    return steps
  }

  /// Returns the keys of all parts.
  private static func allKeys(in session: isolated Session) -> Set<String> {
    var parts: Set<String> = [
      RecordKey.session, RecordKey.stack, RecordKey.invitations, RecordKey.deepLinks,
    ]
    for client in session.clients.all where client.link.isResumable {
      parts.formUnion([RecordKey.client(client.id), RecordKey.state(ofClient: client.id)])
    }
    parts.formUnion(session.pages.stack.allPages.map { RecordKey.page($0.id) })
    parts.formUnion(session.idempotencyKeys.allKeys.map(\.recordKey))
    return parts
  }

  /// Returns the content of a part; `nil` if the part no longer exists.
  private static func record(
    of part: String, in session: isolated Session
  ) -> ValueObject? {
    switch part {
    case RecordKey.session: return SessionRecord(session).fields
    case RecordKey.stack: return session.pages.stackRecord
    case RecordKey.invitations:
      return session.invitations.record(
        at: session.loop.nanoseconds, wall: session.environment.now())
    case RecordKey.deepLinks: return session.pendingLinks.record
    default: break
    }
    if let id = RecordKey.suffix(of: part, "page") { return session.pages.record(of: id) }
    if let id = RecordKey.suffix(of: part, "client").flatMap({ ClientID($0) }) {
      return session.clients[id].flatMap { clientRecord(of: $0, in: session) }
    }
    return SessionIdempotencyKeys.ScopedKey(part: part).flatMap {
      session.idempotencyKeys.record(of: $0, at: session.loop.nanoseconds) { asked in
        let request = session.clients[asked.client]?.pending[asked.id]
        return request.flatMap { $0.sequenceNumber > 0 ? $0.sequenceNumber : nil }
      }
    }
  }

  /// Returns the record of a client; `nil` if it cannot resume.
  private static func clientRecord(of client: Client, in session: isolated Session) -> ValueObject?
  {
    guard client.link.isResumable else { return nil }
    let hosts =
      session.resolver.hosts.definitions(of: client.id)
      + session.environment.serverHosts.definitions(of: client)
    var members: ValueObject = [
      "name": .string(client.name),
      "tokens": .array(client.link.credential.tokens.map(Value.string)),
      "identity": client.rights.caller.identity.record,
      "software": .object(client.software.record), "hosts": .array(hosts.map(\.value)),
      "topics": .array(
        session.events.subscribers[client.id].patterns.map { .string($0.text) }),
    ]
    if client.link.persistence.uncertainThrough > client.lastHandled {
      members["doubtful"] = .integer(Int64(clamping: client.link.persistence.uncertainThrough))
    }
    if case .session(let definesIt) = client.authentication.source {
      members["definesIdentity"] = .bool(definesIt)
    }
    members["page"] = client.page.map(Value.string)
    members["origin"] = client.link.handshake.origin.map(Value.string)
    members["address"] = client.link.handshake.address.map(Value.string)
    members["invitation"] = client.rights.invitation.map { .string($0.token) }
    return members
  }

  /// Returns the store operations for the position of a client, and for the frames that it may not
  /// have received.
  private static func stateSteps(
    of id: ClientID, _ calls: [ActiveCall], _ isAwaited: Bool, isWhole: Bool, _ change: Int,
    in session: isolated Session
  ) -> [ChangeStep] {
    let part = RecordKey.state(ofClient: id)
    let all = ChangeStep.removeRange(
      from: RecordKey.frame(0, ofClient: id), through: RecordKey.frame(.max, ofClient: id))
    guard let client = session.clients[id], client.link.isResumable else {
      return [.remove(part: part), all]
    }
    client.link.persistence.isDirty = false
    // Until the client reports its position, no message may get a number that the client knows from
    // before the restart. Its stored state stays as it is.
    if client.link.persistence.isRestored, !isWhole { return [] }
    if !client.link.persistence.isRestored {
      client.link.numberUnsent { request, seq in
        client.pending[request]?.sequenceNumber = seq
      }
    }
    guard let sequence = client.link.sequence else { return [] }
    let outbox = sequence.outbox
    client.link.persistence.lastReceived = (change, client.lastHandled)
    let steps = frameSteps(of: client, outbox, isAwaited, in: session)
    // The outcome of calls whose responses are lost with the server is not known.
    let stored = client.link.persistence.storedFrames?.upperBound ?? outbox.acknowledged
    var answered = client.link.persistence.unconfirmedResponses
    answered += outbox.unsentResponseIDs.map { ($0, .max) }
    outbox.forEach(after: stored) { last, frame in
      answered += MessageIDReader.responseIDs(in: frame).map { ($0, last) }
    }
    let state: ValueObject = [
      "received": .integer(Int64(clamping: client.lastHandled)),
      "acknowledged": .integer(Int64(clamping: outbox.acknowledged)),
      "sent": .integer(Int64(clamping: stored)),
      "isNumbering": .bool(client.link.numbersMessages),
      "calls": .array(
        calls.sorted { $0.number < $1.number }
          .compactMap { $0.record(session.environment.meter.names) }),
      "batches": .array(batchRecords(calls)),
      "answered": .array(
        answered.map { ["id": $0.id.value, "seq": .integer(Int64(clamping: $0.last))] }),
      "requests": .array(voidRequests(to: client, in: session).map(\.id.value)),
    ]
    return [.put(part: part, bytes: StoredRecord.encode(state))] + steps
  }

  /// Time, in nanoseconds, to store frames that a client has not acknowledged. A client
  /// acknowledges frames within a second.
  private static let persistenceDelay: UInt64 = 2_000_000_000

  /// Returns the store operations for new frames of a client, and for frames that are no longer
  /// needed.
  private static func frameSteps(
    of client: Client, _ outbox: Outbox, _ isAwaited: Bool, in session: isolated Session
  ) -> [ChangeStep] {
    var steps = removalSteps(client, upTo: outbox.acknowledged)
    let first = max(outbox.acknowledged, client.link.persistence.storedFrames?.upperBound ?? 0)
    var last = outbox.last
    if !isAwaited, !client.isDisconnected {
      last = min(client.link.persistence.outboxMark.last, last)
      let now = session.loop.nanoseconds
      if now &- client.link.persistence.outboxMark.at < persistenceDelay {
        last = first
      } else {
        client.link.persistence.outboxMark = (outbox.last, now)
      }
      if first < outbox.last { session.schedulePersistence(of: client) }
    }
    guard first < last else { return steps }
    // After a restart, nothing waits for these responses. The stored frames cancel the requests that
    // the client has not received by then.
    let requests = Dictionary(
      voidRequests(to: client, in: session).map { ($0.completion.sequenceNumber, $0.id) },
      uniquingKeysWith: { $1 })
    var writer = MessageWriter()
    var stored = client.link.persistence.storedFrames
    outbox.forEach(after: first, through: last) { number, frame in
      var bytes = frame.withUnsafeBytes { Array($0) }
      if let id = requests[number],
        (try? writer.writeNotification("$/cancelRequest", ["id": id.value])) != nil
      {
        bytes = writer.numbered(number)
      }
      steps.append(.put(part: RecordKey.frame(number, ofClient: client.id), bytes: bytes))
      stored = (stored?.lowerBound ?? number)...number
    }
    client.link.persistence.storedFrames = stored
    return steps
  }

  /// Returns the requests to a client that no call waits for after a restart: all but those that do
  /// the work of an idempotency key.
  private static func voidRequests(
    to client: Client, in session: isolated Session
  ) -> [(id: RequestID, completion: PendingRequest)] {
    client.pending.all { _, request in session.leadKey(of: request) == nil }
  }

  /// Returns the store operations that remove acknowledged frames of a client.
  private static func removalSteps(_ client: Client, upTo number: UInt64) -> [ChangeStep] {
    guard let stored = client.link.persistence.storedFrames, stored.lowerBound <= number else {
      return []
    }
    let end = min(stored.upperBound, number)
    client.link.persistence.storedFrames =
      end == stored.upperBound ? nil : (end + 1)...stored.upperBound
    return [
      .removeRange(
        from: RecordKey.frame(stored.lowerBound, ofClient: client.id),
        through: RecordKey.frame(end, ofClient: client.id))
    ]
  }

  /// Returns the batches that the calls belong to, each with the responses that it has.
  private static func batchRecords(_ calls: [ActiveCall]) -> [Value] {
    var seen: Set<ObjectIdentifier> = []
    return calls.compactMap { call in
      guard let batch = call.replyHandle?.batch, seen.insert(ObjectIdentifier(batch)).inserted
      else {
        return nil
      }
      return .object(batch.record)
    }
  }
}

extension ActiveCall {
  /// The reply handle of the call; `nil` for a call without a response on the wire.
  fileprivate var replyHandle: ReplyHandle? {
    guard case .client(let handle, _) = caller, !handle.isNotification else { return nil }
    return handle
  }

  /// Returns the stored record of the call.
  fileprivate func record(_ names: [String]) -> Value? {
    guard let replyHandle else { return nil }
    isStored = true
    var members: ValueObject = [
      "id": replyHandle.id.value, "method": .string(names[Int(replyHandle.method)]),
    ]
    members["uri"] = uri.map(Value.string)
    if case .page(let page) = work { members["page"] = .string(page) }
    members["params"] = requestParams
    if let batch = replyHandle.batch {
      members["batch"] = .integer(Int64(batch.number))
      members["position"] = .integer(Int64(replyHandle.position))
    }
    return .object(members)
  }
}

/// The stored record of a session itself.
struct SessionRecord {
  let joinToken: String
  let epoch: String
  let identity: Identity

  fileprivate init(_ session: isolated Session) {
    joinToken = session.joinToken
    epoch = session.epoch
    identity = session.identity
  }

  init(_ record: StoredRecord) throws(StoredRecord.RecordDecodingError) {
    joinToken = try record.string("joinToken")
    epoch = try record.string("epoch")
    identity = try Identity(record.record("identity"))
  }

  fileprivate var fields: ValueObject {
    [
      "joinToken": .string(joinToken), "epoch": .string(epoch), "identity": identity.record,
    ]
  }
}

extension Session: SessionJournal.JournalSource {
  nonisolated func steps(
    for parts: Set<String>?, isAwaited: Bool, number: Int
  ) -> [SessionChange.ChangeStep] {
    assumeIsolated {
      SessionSnapshotWriter.steps(for: parts, isAwaited: isAwaited, number: number, in: $0)
    }
  }

  nonisolated func didStore(through number: Int) {
    assumeIsolated { session in
      for client in session.clients.all where client.link.isResumable {
        session.clientWriter.flush(client)
        SessionInboundSequence.acknowledgeStored(client, through: number, in: session)
      }
    }
  }

  nonisolated func didLoseOwnership(_ move: SessionJournal.OwnershipChange) {
    assumeIsolated { session in
      session.advance(to: .moved)
      let counts = session.environment.cluster?.counts
      (move == .takenOver ? counts?.lostToPeers : counts?.handedOver)?.add()
      session.events.emit(
        .session, move == .takenOver ? .takenOver : .handedOver, by: nil)
      // The server that has the session now opens them.
      _ = session.pendingLinks.removeAll()
      for client in session.clients.all {
        client.channel?.close(.drain, "another server owns the session")
        session.remove(client.id, code: CloseCode.drain.rawValue)
      }
    }
  }
}
