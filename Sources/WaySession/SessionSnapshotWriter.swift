import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Writes what is kept of a session: for each of its parts what is to be done in the store. What it
/// writes, ``Restoring`` reads.
enum SessionSnapshotWriter {
  private typealias Step = SessionChange.Step

  /// What is to be done for some parts; for all, where `parts` is nil. `isAwaited` where messages
  /// wait for it: then all that clients were sent is kept with it. `number` is that of the change.
  static func steps(
    for parts: Set<String>?, isAwaited: Bool, number: Int, in session: isolated Session
  ) -> [SessionChange.Step] {
    let isWhole = parts == nil
    let calls = Dictionary(grouping: session.clientCalls) { $0.caller.client?.id ?? 0 }
    var steps: [Step] = []
    for part in (parts ?? all(in: session)).sorted() {
      if let id = RecordKey.rest(of: part, "at").flatMap({ ClientID($0) }) {
        if isWhole { session.members[id]?.kept.frames = nil }
        steps += state(
          of: id, calls[id] ?? [], isAwaited, isWhole: isWhole, number, in: session)
      } else {
        let members = members(of: part, in: session)
        steps.append(
          members.map { .put(part: part, bytes: Record.bytes($0)) } ?? .remove(part: part))
      }
    }
    return steps
  }

  /// The names of all parts.
  private static func all(in session: isolated Session) -> Set<String> {
    var parts: Set<String> = [
      RecordKey.session, RecordKey.stack, RecordKey.invitations, RecordKey.links,
    ]
    for client in session.members.all where client.isResumable {
      parts.formUnion([RecordKey.client(client.id), RecordKey.state(ofClient: client.id)])
    }
    parts.formUnion(session.pages.stack.allPages.map { RecordKey.page($0.id) })
    parts.formUnion(session.keys.names.map(\.part))
    return parts
  }

  /// What a part holds; nil where there is no such part any more.
  private static func members(
    of part: String, in session: isolated Session
  ) -> ValueObject? {
    switch part {
    case RecordKey.session: return SessionRecord(session).members
    case RecordKey.stack: return session.pages.stackRecord
    case RecordKey.invitations:
      return session.invitations.record(at: session.loop.nanoseconds, wall: session.wall)
    case RecordKey.links: return session.links.record
    default: break
    }
    if let id = RecordKey.rest(of: part, "page") { return session.pages.record(of: id) }
    if let id = RecordKey.rest(of: part, "client").flatMap({ ClientID($0) }) {
      return session.members[id].flatMap { client(of: $0, in: session) }
    }
    return Keys.Name(part: part).flatMap {
      session.keys.record(of: $0, at: session.loop.nanoseconds)
    }
  }

  /// Who a client is; nil for one that cannot resume.
  private static func client(of client: Client, in session: isolated Session) -> ValueObject? {
    guard client.isResumable else { return nil }
    let hosts =
      session.guide.hosts.definitions(of: client.id)
      + session.environment.serverHosts.definitions(of: client)
    var members: ValueObject = [
      "name": .string(client.name),
      "tokens": .list(client.proof.tokens.map(Value.string)),
      "identity": client.rights.caller.identity.record,
      "software": .object(client.software.record), "hosts": .list(hosts.map(\.value)),
      "topics": .list(
        session.happenings.subscribers[client.id].patterns.map { .string($0.text) }),
    ]
    if client.kept.doubtful > client.taken {
      members["doubtful"] = .integer(Int64(clamping: client.kept.doubtful))
    }
    members["page"] = client.page.map(Value.string)
    members["origin"] = client.handshake.origin.map(Value.string)
    members["address"] = client.handshake.address.map(Value.string)
    members["invitation"] = client.rights.invitation.map { .string($0.token) }
    return members
  }

  /// How far a client has come, and what it was sent and may not have.
  private static func state(
    of id: ClientID, _ calls: [CallInFlight], _ isAwaited: Bool, isWhole: Bool, _ change: Int,
    in session: isolated Session
  ) -> [Step] {
    let part = RecordKey.state(ofClient: id)
    let all = Step.removeRange(
      from: RecordKey.frame(0, ofClient: id), through: RecordKey.frame(.max, ofClient: id))
    guard let client = session.members[id], client.isResumable else {
      return [.remove(part: part), all]
    }
    client.kept.isNoted = false
    // Until it says how far it has come, nothing has a number that it may know from a former life of
    // the server: what is kept of that stays as it is.
    if client.kept.isRestarted, !isWhole { return [] }
    if !client.kept.isRestarted {
      client.numbering?.outbox.numberWaiting { request, seq in
        client.pending[request]?.seq = seq
      }
    }
    guard let numbering = client.numbering else { return [] }
    let outbox = numbering.outbox
    client.kept.received = (change, client.taken)
    let steps = frames(of: client, outbox, isAwaited, in: session)
    // Of what goes missing with the server the outcome is not known.
    let kept = client.kept.frames?.upperBound ?? outbox.acknowledged
    var answered = client.kept.answered
    answered += outbox.answeredWaiting.map { ($0, .max) }
    outbox.forEach(after: kept) { last, frame in
      answered += ResponseIDReader.answered(in: frame).map { ($0, last) }
    }
    let state: ValueObject = [
      "received": .integer(Int64(clamping: client.taken)),
      "acknowledged": .integer(Int64(clamping: outbox.acknowledged)),
      "sent": .integer(Int64(clamping: kept)),
      "isNumbering": .bool(client.isNumbering),
      "calls": .list(
        calls.sorted { $0.number < $1.number }
          .compactMap { $0.record(session.environment.meter.names) }),
      "batches": .list(batches(calls)),
      "answered": .list(
        answered.map { ["id": $0.id.value, "seq": .integer(Int64(clamping: $0.last))] }),
      "requests": .list(client.pending.all().map(\.id.value)),
    ]
    return [.put(part: part, bytes: Record.bytes(state))] + steps
  }

  /// A client acknowledges within a second what it has taken; what it has not by then is kept.
  private static let patience: UInt64 = 2_000_000_000

  /// The frames of a client that the store is to have, and those that it need not have any more.
  private static func frames(
    of client: Client, _ outbox: Outbox, _ isAwaited: Bool, in session: isolated Session
  ) -> [Step] {
    var steps = forget(client, upTo: outbox.acknowledged)
    let first = max(outbox.acknowledged, client.kept.frames?.upperBound ?? 0)
    var last = outbox.last
    if !isAwaited, !client.isAbsent {
      last = min(client.kept.seen.last, last)
      let now = session.loop.nanoseconds
      if now &- client.kept.seen.at < patience {
        last = first
      } else {
        client.kept.seen = (outbox.last, now)
      }
      if first < outbox.last { session.look(again: client) }
    }
    guard first < last else { return steps }
    // What another life asks is not answered to this one: what has not come by then takes it back.
    let requests = Dictionary(
      client.pending.all().map { ($0.completion.seq, $0.id) }, uniquingKeysWith: { $1 })
    var writer = MessageWriter()
    var kept = client.kept.frames
    outbox.forEach(after: first, through: last) { number, frame in
      var bytes = frame.withUnsafeBytes { Array($0) }
      if let id = requests[number],
        (try? writer.notification("$/cancelRequest", ["id": id.value])) != nil
      {
        bytes = writer.numbered(number)
      }
      steps.append(.put(part: RecordKey.frame(number, ofClient: client.id), bytes: bytes))
      kept = (kept?.lowerBound ?? number)...number
    }
    client.kept.frames = kept
    return steps
  }

  /// What a client has acknowledged need not be kept.
  private static func forget(_ client: Client, upTo number: UInt64) -> [Step] {
    guard let kept = client.kept.frames, kept.lowerBound <= number else { return [] }
    let end = min(kept.upperBound, number)
    client.kept.frames = end == kept.upperBound ? nil : (end + 1)...kept.upperBound
    return [
      .removeRange(
        from: RecordKey.frame(kept.lowerBound, ofClient: client.id),
        through: RecordKey.frame(end, ofClient: client.id))
    ]
  }

  /// The batches that calls are parts of, each with the answers that it has.
  private static func batches(_ calls: [CallInFlight]) -> [Value] {
    var seen: Set<ObjectIdentifier> = []
    return calls.compactMap { call in
      guard let batch = call.address?.batch, seen.insert(ObjectIdentifier(batch)).inserted else {
        return nil
      }
      return .object(batch.record)
    }
  }
}

extension CallInFlight {
  /// Where it is answered; nil for one that nobody is told of over the wire.
  fileprivate var address: ReplyHandle? {
    guard case .client(let address, _) = caller, !address.isSilent else { return nil }
    return address
  }

  /// What is kept of it.
  fileprivate func record(_ names: [String]) -> Value? {
    guard let address else { return nil }
    var members: ValueObject = [
      "id": address.id.value, "method": .string(names[Int(address.method)]),
    ]
    members["uri"] = uri.map(Value.string)
    if case .page(let page) = work { members["page"] = .string(page) }
    members["params"] = request
    if let batch = address.batch {
      members["batch"] = .integer(Int64(batch.number))
      members["position"] = .integer(Int64(address.position))
    }
    return .object(members)
  }
}

/// What is kept of a session itself.
struct SessionRecord {
  let joinToken: String
  let epoch: String
  let identity: Identity

  fileprivate init(_ session: isolated Session) {
    joinToken = session.joinToken
    epoch = session.epoch
    identity = session.identity
  }

  init(_ record: Record) throws(Record.Fault) {
    joinToken = try record.string("joinToken")
    epoch = try record.string("epoch")
    identity = try Identity(record.record("identity"))
  }

  fileprivate var members: ValueObject {
    [
      "joinToken": .string(joinToken), "epoch": .string(epoch), "identity": identity.record,
    ]
  }
}

extension Session: Journal.Source {
  nonisolated func steps(
    for parts: Set<String>?, isAwaited: Bool, number: Int
  ) -> [SessionChange.Step] {
    assumeIsolated {
      SessionSnapshotWriter.steps(for: parts, isAwaited: isAwaited, number: number, in: $0)
    }
  }

  nonisolated func kept(through number: Int) {
    assumeIsolated { session in
      for client in session.members.all where client.isResumable {
        session.mail.release(client)
        Reception.kept(client, through: number, in: session)
      }
    }
  }

  nonisolated func moved(_ move: Journal.Move) {
    assumeIsolated { session in
      session.wasMoved()
      let counts = session.environment.cluster?.counts
      (move == .takenOver ? counts?.lost : counts?.handedOver)?.add()
      session.happenings.tell(.session, move == .takenOver ? .takenOver : .handedOver)
      // They are followed where the session is now.
      _ = session.links.removeAll()
      for client in session.members.all {
        client.channel?.close(.drain, "another server has the session")
        session.remove(client.id, code: CloseCode.drain.rawValue)
      }
    }
  }
}
