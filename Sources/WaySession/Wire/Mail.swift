import WayRPC
import WayTransport
import WayValues

/// Writes to the clients of one session, and keeps what they owe answers to. Belongs to its
/// ``Session``'s isolation.
final class ClientWriter {
  // Used with every message; a channel that is handed what it holds calls nobody back.
  @exclusivity(unchecked) private var writer = MessageWriter()
  /// How many answers a client may owe beyond its limit for what the server tells it by itself, so
  /// that those who call it cannot use that up.
  static let reserve = 256

  private let limits: Limits
  private let members: SessionClients
  private let resumables: ResumableClients
  /// Nil where the session is not kept.
  private let journal: Journal?

  init(
    limits: Limits, members: SessionClients, _ resumables: ResumableClients,
    _ journal: Journal? = nil
  ) {
    self.limits = limits
    self.members = members
    self.resumables = resumables
    self.journal = journal
  }

  /// Answers one request, at once or in its batch.
  func answer(_ answer: Answer, to address: ReplyHandle) {
    guard !address.isSilent else { return }
    let (inBatch, limit) = (address.batch != nil, room(for: address))
    let fits: Bool
    switch answer {
    case .value(let value):
      fits = writer.response(address.id, value, inBatch: inBatch, limit: limit)
    case .document:
      fits = writer.response(address.id, written: OpenRPC.text, inBatch: inBatch, limit: limit)
    case .outcome, .change:
      fits = writer.response(address.id, answer.value, inBatch: inBatch, limit: limit)
    }
    send(to: address, fits)
  }

  /// Refuses one request, at once or in its batch.
  func answer(_ error: CallError, to address: ReplyHandle) {
    guard !address.isSilent else { return }
    let fits = writer.error(
      address.id, error, inBatch: address.batch != nil, limit: room(for: address))
    send(to: address, fits)
  }

  /// Bytes that an answer may have.
  private func room(for address: ReplyHandle) -> Int {
    limits.maxAnswer - (address.batch?.size ?? 0)
  }

  /// Sends the answer that was written; `fits` is false where it took the place of a larger one.
  private func send(to address: ReplyHandle, _ fits: Bool) {
    if address.isApart { return sendApart(to: address.client) }
    guard let batch = address.batch else { return send(to: address.client) }
    if !fits { batch.isFull = true }
    guard batch.answer(address.position, with: writer.bytes) else { return }
    let client = address.client
    guard let channel = client.channel else {
      client.numbering?.outbox.hold(batch: batch.given)
      return checkOutbox(of: client)
    }
    if !client.isResumable {
      guard let whole = batch.whole else { return }
      channel.send(whole.span.bytes, as: .text)
    } else if holds(client) {
      client.numbering?.outbox.add(batch: batch.given) { _ in }
      hold(client)
    } else {
      client.numbering?.outbox.add(batch: batch.given) { channel.send($0, as: .text) }
      note(client)
    }
    check(client, channel)
  }

  /// Answers what is no message.
  func refuse(_ error: CallError, to client: Client) {
    writer.error(.null, error)
    send(to: client)
  }

  /// Tells a caller how far its call is. Nobody needs an older one, who was not there to hear it.
  func progress(_ client: Client, _ id: RequestID, _ value: Value) {
    let params: Value = ["id": id.value, "value": value]
    guard (try? writer.notification("$/progress", params)) != nil else { return }
    send(to: client, .progress(id))
  }

  /// Sends a notification. One whose params nest too deep to be written cannot be sent and is not.
  func notify(_ client: Client, _ method: String, _ params: Value) {
    guard (try? writer.notification(method, params)) != nil else { return }
    send(to: client)
  }

  /// The text of a notification; nil where its params nest too deep to be written.
  func notification(_ method: String, _ params: Value) -> [UInt8]? {
    guard (try? writer.notification(method, params)) != nil else { return nil }
    return writer.bytes
  }

  /// Sends a request; the answer is for `asker`, which may be another than the client's. Fails where there will be no answer: the client owes too many, or the params
  /// nest too deep to be written.
  func request(
    _ client: Client, _ method: String, _ params: Value, for purpose: RequestPurpose,
    by asker: (any Requester)? = nil
  ) throws(RequestFailure) -> RequestID {
    let asked = PendingRequest(method, for: purpose, by: asker)
    let id: RequestID
    do {
      id = try client.pending.add(asked, beyond: purpose.isOfServer ? Self.reserve : 0)
    } catch {
      guard purpose.isOfServer else { throw .unanswered(error) }
      // A host that answers no page.close is gone for all that it is asked: its pages must not
      // stay.
      client.channel?.close(.slowConsumer, "\(client.pending.count) requests were not answered")
      throw .unanswered(CallError(.hostAbsent, "The host does not answer"))
    }
    do {
      try writer.request(id, method, params)
    } catch {
      _ = client.pending.take(id)
      throw .unanswered(CallError(.tooLarge, "The host cannot be asked: \(error)"))
    }
    send(to: client, .request(id))
    if !client.isAbsent, let seq = client.numbering?.outbox.last { asked.seq = seq }
    return id
  }

  /// The call is over for its caller, for whom the request counts until the client has answered it.
  func owe(_ id: RequestID, _ client: Client, _ caller: Client) {
    guard let request = client.pending[id] else { return }
    request.debtor = PendingRequest.Debtor(client: caller)
    caller.owe()
  }

  /// Sets what rings when a request is not answered in time.
  func limit(_ id: RequestID, _ client: Client, _ timeout: any ScheduledWork) {
    client.pending[id]?.timeout = timeout
  }

  /// Sends a whole message that the client has asked for.
  func deliver(_ message: [UInt8], to client: Client) {
    if !lagsBehind(client) { send(message, to: client) }
  }

  /// Sends whole messages that the client has asked for, all of them or none.
  func deliver(_ messages: [[UInt8]], to client: Client) {
    if lagsBehind(client) { return }
    for message in messages { send(message, to: client) }
  }

  /// Whether a client does not read what it asked for: it would make the server grow, and is closed.
  private func lagsBehind(_ client: Client) -> Bool {
    guard let channel = client.channel, channel.bufferedBytes > limits.maxBacklog else {
      return false
    }
    channel.close(.slowConsumer, "more than \(limits.maxBacklog) bytes wait to be read")
    return true
  }

  /// Tells a client that the answer to a request is not wanted any more. The request ends with what
  /// the client answers all the same.
  func cancelRequest(_ id: RequestID, _ client: Client) {
    notify(client, "$/cancelRequest", ["id": id.value])
  }

  /// The request that a response answers; nil for one that nobody has asked.
  func take(_ response: Response, from client: Client) -> PendingRequest? {
    guard let request = client.pending.take(response.id) else { return nil }
    request.settle()
    return request
  }

  /// Gives up a request that was not answered in time.
  func giveUp(_ id: RequestID, _ client: Client) -> PendingRequest? {
    guard let request = client.pending.take(id) else { return nil }
    request.settle()
    cancelRequest(id, client)
    return request
  }

  /// Sends the message that was written.
  private func send(to client: Client, _ tag: Outbox.Tag = .none) {
    guard let channel = client.channel, !client.isResumable else {
      return send(writer.bytes, to: client, tag)
    }
    writer.use { channel.send($0, as: .text) }
    check(client, channel)
  }

  /// Sends what has no number, where somebody is there to take it.
  private func sendApart(to client: Client) {
    writer.use { client.channel?.send($0, as: .text) }
  }

  /// Sends a message, numbered where the client resumes; one that has no connection now gets it
  /// later. `request` is the one whose progress it is, or its own id.
  private func send(_ bytes: [UInt8], to client: Client, _ tag: Outbox.Tag = .none) {
    guard let channel = client.channel else {
      client.numbering?.outbox.hold(bytes, tag)
      return checkOutbox(of: client)
    }
    if !client.isResumable {
      channel.send(bytes.span.bytes, as: .text)
    } else if holds(client) {
      client.numbering?.outbox.add(bytes) { _ in }
      hold(client)
    } else {
      client.numbering?.outbox.add(bytes) { channel.send($0, as: .text) }
      note(client)
    }
    check(client, channel)
  }

  /// Whether what a client is sent has to wait for the store. What it has to wait behind is found
  /// out before it is added.
  @inline(__always)
  private func holds(_ client: Client) -> Bool {
    if client.kept.held != nil { return true }
    guard let journal, journal.barrier != nil, let last = client.numbering?.outbox.last else {
      return false
    }
    client.kept.held = PendingPersistence(after: last)
    return true
  }

  /// A message was added that waits.
  private func hold(_ client: Client) {
    guard let last = client.numbering?.outbox.last else { return }
    client.kept.held?.add(through: last, until: journal?.barrier ?? 0)
    note(client)
  }

  /// The state of a client has changed.
  @inline(__always)
  func note(_ client: Client) {
    if let journal, !client.kept.isNoted, client.isResumable {
      client.kept.isNoted = true
      journal.noteLater(RecordKey.state(ofClient: client.id))
    }
  }

  /// The connection of a client that goes on is told that it carries the client.
  func greeted(_ client: Client) {
    client.kept.held?.greeted()
    release(client)
  }

  /// Sends what has waited for changes that the store has now.
  func release(_ client: Client) {
    let released = client.kept.held?.release(through: journal?.kept ?? 0)
    if client.kept.held?.isDone == true { client.kept.held = nil }
    guard let released, let channel = client.channel else { return }
    client.numbering?.outbox.replay(after: released.after, through: released.through) {
      channel.send($0, as: .text)
    }
    check(client, channel)
  }

  private func check(_ client: Client, _ channel: any MessageChannel) {
    let waiting = channel.bufferedBytes
    if waiting > limits.maxBacklog { check(client, channel, waiting) }
    guard client.isResumable else { return }
    if resumables.count(client) {
      channel.close(.slowConsumer, "more than the outbox holds was not acknowledged")
    }
  }

  /// A client does not number at all: what waits is sent as it is, and nothing is kept from now on.
  func stopNumbering(_ client: Client) {
    if let held = client.kept.held, let channel = client.channel {
      client.numbering?.outbox.replay(after: held.sent) { channel.send($0, as: .text) }
    }
    client.kept = PersistenceState()
    client.stopNumbering()
  }

  /// Acknowledges what a client has sent, up to a number.
  func acknowledge(_ client: Client, through number: UInt64 = .max) {
    // Nothing comes before the answer that tells a connection that it carries the client, and that
    // says as much.
    guard let channel = client.channel, client.kept.held?.isGreeting != true,
      let number = client.numbering?.acknowledge(through: number)
    else { return }
    writer.acknowledgement(of: number)
    writer.use { channel.send($0, as: .text) }
  }

  /// A client goes on that has taken what was sent up to `number`: the rest is to be sent again, then
  /// what has waited, when its connection is greeted (``greeted(_:)``).
  func resume(_ client: Client, after number: UInt64) {
    client.numbering?.resume(after: number) { _ in
    } numbered: { id, seq in
      client.pending[id]?.seq = seq
    }
    client.kept.held = PendingPersistence(after: number, isGreeting: true)
    hold(client)
    resumables.count(client)
  }

  /// A client has acknowledged messages; false where that many were never sent.
  func acknowledged(_ number: UInt64, by client: Client) -> Bool {
    note(client)
    defer { resumables.count(client) }
    return client.numbering?.outbox.acknowledge(number) == true
  }

  /// A client that has no connection, and for which more waits than may, is given up.
  private func checkOutbox(of client: Client) {
    note(client)
    if client.isResumable, resumables.count(client) { resumables.overflowed(client) }
  }

  /// Closes a client for which too much is kept, or whose session keeps too much with what waits to
  /// be sent to it.
  private func check(_ client: Client, _ channel: any MessageChannel, _ waiting: Int) {
    if waiting + client.budget.used > limits.maxClientBytes {
      channel.close(.slowConsumer, "more than \(limits.maxClientBytes) bytes are kept for it")
    } else if members.queuedBytes + members.budget.used > limits.maxSessionBytes {
      channel.close(
        .slowConsumer, "more than \(limits.maxSessionBytes) bytes are kept for its session")
    }
  }
}
