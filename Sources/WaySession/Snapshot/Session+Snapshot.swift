import WayRPC
import WayRouting
import WayTransport
import WayValues

// Writes the stored state of the session.
extension Session: SessionJournal.JournalSource {
  private typealias ChangeStep = SessionChange.ChangeStep

  nonisolated func steps(
    for parts: Set<SessionPart>?, isAwaited: Bool, number: Int
  ) -> [SessionChange.ChangeStep] {
    assumeIsolated { $0.makeSteps(for: parts, isAwaited: isAwaited, number: number) }
  }

  nonisolated func didStore(through number: Int) {
    assumeIsolated { session in
      for client in session.clients.all where client.link.isResumable {
        session.clientWriter.flush(client)
        session.acknowledgeStored(client, through: number)
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

  private func makeSteps(
    for parts: Set<SessionPart>?, isAwaited: Bool, number: Int
  ) -> [ChangeStep] {
    let calls = Dictionary(grouping: self.calls.ofClients) { $0.caller.client?.id ?? 0 }
    let named = (parts ?? allParts).map { (name: $0.name, part: $0) }
    return named.sorted { $0.name < $1.name }.flatMap { name, part -> [ChangeStep] in
      switch part {
      case .session:
        step(
          name,
          SessionRecord(
            joinToken: joinToken, epoch: epoch, identity: IdentityRecord(identity),
            openedAt: openedAt))
      case .stack: step(name, StackRecord(pages.stack))
      case .invitations:
        step(
          name, InvitationsRecord(invitations, at: loop.nanoseconds, wall: environment.now()))
      case .deepLinks: step(name, DeepLinksRecord(pendingLinks))
      case .gates: step(name, gates.areAllClosed ? nil : gates.record)
      case .page(let id): step(name, pages[id].map { OpenPageRecord($0, pages.guards(of: id)) })
      case .client(let id): step(name, clients[id].flatMap(record))
      case .idempotencyKey(let key): step(name, record(of: key))
      case .clientState(let id):
        stateSteps(
          of: id, calls[id] ?? [], isAwaited: isAwaited, isWhole: parts == nil, number)
      case .frame: []  // Part of the steps of a client's state.
      }
    }
  }

  /// Returns the step that stores a record; `nil` stands for a part that does not exist any more.
  private func step(_ name: String, _ record: (some Encodable)?) -> [ChangeStep] {
    guard let record else { return [.remove(part: name)] }
    return [.put(part: name, bytes: RecordCoder.encode(record))]
  }

  private var allParts: Set<SessionPart> {
    var parts: Set<SessionPart> = [.session, .stack, .invitations, .deepLinks, .gates]
    for client in clients.all where client.link.isResumable {
      parts.formUnion([.client(client.id), .clientState(client.id)])
    }
    parts.formUnion(pages.stack.allPages.map { .page($0.id) })
    parts.formUnion(idempotencyKeys.allKeys.map { .idempotencyKey($0) })
    return parts
  }

  private func record(of key: ScopedKey) -> IdempotencyKeyRecord? {
    IdempotencyKeyRecord(idempotencyKeys, key, at: loop.nanoseconds) { asked in
      let request = clients[asked.client]?.pending[asked.id]
      return request.flatMap { $0.sequenceNumber > 0 ? $0.sequenceNumber : nil }
    }
  }

  /// Returns the record of a client; `nil` if it cannot resume.
  private func record(of client: Client) -> ClientRecord? {
    guard client.link.isResumable else { return nil }
    let hosts =
      resolver.hosts.definitions(of: client.id) + environment.serverHosts.definitions(of: client)
    var record = ClientRecord(
      name: client.name, tokens: client.link.credential.tokens,
      identity: IdentityRecord(client.rights.caller.identity), software: client.software,
      hosts: hosts.map(\.value), topics: events.subscribers[client.id].patterns.map(\.text))
    if client.link.persistence.uncertainThrough > client.lastHandled {
      record.uncertainThrough = MessageNumber(client.link.persistence.uncertainThrough)
    }
    if case .session(let definesIt) = client.authentication.source {
      record.definesIdentity = definesIt
    }
    record.page = client.page
    record.origin = client.link.handshake.origin
    record.address = client.link.handshake.address
    record.invitation = client.rights.invitation?.token
    if client.rights.caller.agent != nil { record.isAgent = true }
    return record
  }

  /// Returns the steps for the position of a client, for its calls, and for the frames that it may
  /// not have received. `change` is the number of the change.
  private func stateSteps(
    of id: ClientID, _ calls: [ActiveCall], isAwaited: Bool, isWhole: Bool, _ change: Int
  ) -> [ChangeStep] {
    let name = SessionPart.clientState(id).name
    guard let client = clients[id], client.link.isResumable else {
      return [.remove(part: name), removal(of: 0...(.max), of: id)]
    }
    if isWhole { client.link.persistence.storedFrames = nil }
    client.link.persistence.isDirty = false
    // Until the client reports its position, no message may get a number that the client knows from
    // before the restart. Its stored state stays as it is.
    if client.link.persistence.isRestored, !isWhole { return [] }
    if !client.link.persistence.isRestored {
      client.link.numberUnsent { request, seq in client.pending[request]?.sequenceNumber = seq }
    }
    guard let acknowledged = client.link.sequence?.outbox.acknowledged else { return [] }
    client.link.persistence.lastReceived = (change, client.lastHandled)
    // No call waits for these after a restart.
    let abandoned = client.pending.all { _, request in leadKey(of: request) == nil }
    let frames = client.link.storeFrames(isAwaited: isAwaited, at: loop.nanoseconds) {
      Dictionary(
        abandoned.map { ($0.completion.sequenceNumber, $0.id) }, uniquingKeysWith: { $1 })
    }
    if frames.isPartial { schedulePersistence(of: client) }
    var state = ClientStateRecord(
      received: MessageNumber(client.lastHandled), acknowledged: MessageNumber(acknowledged),
      sent: MessageNumber(client.link.lastStoredFrame), numbersMessages: client.link.numbersMessages
    )
    state.calls = calls.sorted { $0.number < $1.number }.compactMap(record).nonempty
    state.batches = Self.batchRecords(calls).nonempty
    state.unconfirmedResponses =
      client.link.unstoredResponses.map {
        .init(id: $0.id, seq: MessageNumber($0.last))
      }.nonempty
    state.abandonedRequests = abandoned.map(\.id).nonempty
    return step(name, state) + steps(for: frames, of: id)
  }

  private func steps(for change: ClientLink.FrameChange, of client: ClientID) -> [ChangeStep] {
    var steps: [ChangeStep] = []
    if let removed = change.removed { steps.append(removal(of: removed, of: client)) }
    for frame in change.added {
      steps.append(
        .put(part: SessionPart.frame(last: frame.last, client).name, bytes: frame.bytes))
    }
    return steps
  }

  /// Returns the step that removes frames of a client, by the numbers of their last messages.
  private func removal(of frames: ClosedRange<UInt64>, of client: ClientID) -> ChangeStep {
    .removeRange(
      from: SessionPart.frame(last: frames.lowerBound, client).name,
      through: SessionPart.frame(last: frames.upperBound, client).name)
  }

  /// Returns the record of a call; `nil` for a call without a response on the wire.
  private func record(of call: ActiveCall) -> ClientStateRecord.UnfinishedCall? {
    guard let handle = call.replyHandle else { return nil }
    call.isStored = true
    var record = ClientStateRecord.UnfinishedCall(
      id: handle.id, method: environment.meter.names[Int(handle.method)])
    record.uri = call.uri
    if case .page(let page) = call.work { record.page = page }
    record.params = call.requestParams
    if let batch = handle.batch {
      record.batch = MessageNumber(batch.number)
      record.position = handle.position
    }
    return record
  }

  /// Returns the batches that the calls belong to, each with the responses that it has.
  private static func batchRecords(_ calls: [ActiveCall]) -> [ClientStateRecord.UnfinishedBatch] {
    var seen: Set<ObjectIdentifier> = []
    return calls.compactMap(\.replyHandle?.batch)
      .filter { seen.insert(ObjectIdentifier($0)).inserted }
      .map(ClientStateRecord.UnfinishedBatch.init)
  }
}

extension ActiveCall {
  /// The reply handle of the call; `nil` for a call without a response on the wire.
  fileprivate var replyHandle: ReplyHandle? {
    guard case .client(let handle, _) = caller, !handle.isNotification else { return nil }
    return handle
  }
}

extension Array {
  /// The array; `nil` if it is empty.
  fileprivate var nonempty: Self? { isEmpty ? nil : self }
}
