import WayRPC
import WayTransport
import WayValues

/// Writes to the clients of one session, and records the responses that they owe. Belongs to the
/// isolation of its ``Session``.
final class ClientWriter {
  // Used with every message. A channel makes no callbacks while it is given the writer's bytes.
  @exclusivity(unchecked) private var writer = MessageWriter()
  /// The number of responses that a client may owe beyond its limit for requests of the server
  /// itself. Requests of callers cannot use up this reserve.
  static let serverRequestReserve = 256

  private let limits: Limits
  private let clients: SessionClients
  private let resumableClients: ResumableClients
  /// The session's journal; nil if the session is not durable.
  private let journal: SessionJournal?

  init(
    limits: Limits, clients: SessionClients, _ resumableClients: ResumableClients,
    _ journal: SessionJournal? = nil
  ) {
    self.limits = limits
    self.clients = clients
    self.resumableClients = resumableClients
    self.journal = journal
  }

  /// Sends a response to one request, at once or as part of its batch.
  func respond(_ response: SessionCallResponse, to handle: ReplyHandle) {
    guard !handle.isNotification else { return }
    let (inBatch, limit) = (handle.batch != nil, maxResponseSize(for: handle))
    let fits: Bool
    switch response {
    case .value(let value):
      fits = writer.writeResponse(handle.id, value, inBatch: inBatch, limit: limit)
    case .openRPCDocument:
      fits = writer.writeResponse(handle.id, written: OpenRPC.text, inBatch: inBatch, limit: limit)
    case .outcome, .stackChange:
      fits = writer.writeResponse(handle.id, response.value, inBatch: inBatch, limit: limit)
    }
    send(to: handle, fits)
  }

  /// Sends an error response to one request, at once or as part of its batch.
  func respond(_ error: CallError, to handle: ReplyHandle) {
    guard !handle.isNotification else { return }
    let fits = writer.writeError(
      handle.id, error, inBatch: handle.batch != nil, limit: maxResponseSize(for: handle))
    send(to: handle, fits)
  }

  /// The bytes that a response may have.
  private func maxResponseSize(for handle: ReplyHandle) -> Int {
    limits.maxAnswer - (handle.batch?.size ?? 0)
  }

  /// Sends the response that was written. `fits` is false if an error replaced a response that was
  /// too large.
  private func send(to handle: ReplyHandle, _ fits: Bool) {
    if handle.isUnnumbered { return sendUnnumbered(to: handle.client) }
    guard let batch = handle.batch else { return send(to: handle.client) }
    if !fits { batch.isFull = true }
    guard batch.fill(handle.position, with: writer.bytes) else { return }
    let client = handle.client
    guard let channel = client.channel else {
      client.link.enqueue(batch: batch.completedResponses)
      return enforceOutboxLimit(of: client)
    }
    if !client.link.isResumable {
      guard let whole = batch.encoded else { return }
      channel.send(whole.span.bytes, as: .text)
    } else {
      client.link.send(batch: batch.completedResponses, over: channel, after: journal?.barrier)
      markChanged(client)
    }
    enforceLimits(client, channel)
  }

  /// Sends an error response to input that is not a message.
  func sendError(_ error: CallError, to client: Client) {
    writer.writeError(.null, error)
    send(to: client)
  }

  /// Sends a caller the progress of its call. Progress that is not sent yet is replaced by newer
  /// progress of the same call.
  func sendProgress(_ client: Client, _ id: RequestID, _ value: Value) {
    let params: Value = ["id": id.value, "value": value]
    guard (try? writer.writeNotification("$/progress", params)) != nil else { return }
    send(to: client, .progress(id))
  }

  /// Sends a notification. If its params nest too deep to be encoded, nothing is sent.
  func notify(_ client: Client, _ method: String, _ params: Value) {
    guard (try? writer.writeNotification(method, params)) != nil else { return }
    send(to: client)
  }

  /// Encodes a notification; nil if its params nest too deep to be encoded.
  func encodeNotification(_ method: String, _ params: Value) -> [UInt8]? {
    guard (try? writer.writeNotification(method, params)) != nil else { return nil }
    return writer.bytes
  }

  /// Sends a request whose response is for `requester`, which may be another session than the
  /// client's. Throws if there will be no response: the client owes too many, or the params nest
  /// too deep to be encoded.
  func request(
    _ client: Client, _ method: String, _ params: Value, for purpose: RequestPurpose,
    by requester: (any Requester)? = nil
  ) throws(SessionClientRequestFailure) -> RequestID {
    let request = PendingRequest(method, for: purpose, by: requester)
    let id: RequestID
    do {
      id = try client.pending.add(
        request, beyond: purpose.isServerInitiated ? Self.serverRequestReserve : 0)
    } catch {
      guard purpose.isServerInitiated else { throw .noResponse(error) }
      // A host that does not respond to `page.close` counts as disconnected, because its pages must
      // not stay.
      client.channel?.close(.slowConsumer, "\(client.pending.count) requests are unanswered")
      throw .noResponse(CallError(.hostAbsent, "The host does not answer its requests"))
    }
    do {
      try writer.writeRequest(id, method, params)
    } catch {
      _ = client.pending.remove(id)
      throw .noResponse(CallError(.tooLarge, "The request to the host cannot be sent: \(error)"))
    }
    send(to: client, .request(id))
    if !client.isDisconnected, let seq = client.link.lastSent {
      request.sequenceNumber = seq
    }
    return id
  }

  /// Lets a request count for `caller` until the client has responded, although the call has ended
  /// for the caller.
  func retainSlot(_ id: RequestID, _ client: Client, _ caller: Client) {
    guard let request = client.pending[id] else { return }
    request.slotHolder = PendingRequest.SlotHolder(client: caller)
    caller.calls.retainSlot()
  }

  /// Sets the timer that fires when a request gets no response in time.
  func setTimeout(_ id: RequestID, _ client: Client, _ timeout: any ScheduledWork) {
    client.pending[id]?.timeout = timeout
  }

  /// Sends a whole message that the client has subscribed to.
  func deliver(_ message: [UInt8], to client: Client) {
    guard let channel = client.channel else { return send(message, to: client) }
    if !closeIfLagging(channel) { send(message, to: client, over: channel) }
  }

  /// Sends whole messages that the client has subscribed to, all of them or none.
  func deliver(_ messages: [[UInt8]], to client: Client) {
    if let channel = client.channel, closeIfLagging(channel) { return }
    for message in messages { send(message, to: client) }
  }

  /// Closes the connection of a client that does not read what it subscribed to, since its backlog
  /// would grow. Returns whether it did.
  private func closeIfLagging(_ channel: any MessageChannel) -> Bool {
    guard channel.bufferedBytes > limits.maxBacklog else { return false }
    channel.close(.slowConsumer, "more than \(limits.maxBacklog) bytes wait for the client")
    return true
  }

  /// Sends `$/cancelRequest` for a response that is not needed any more. The request ends with the
  /// client's response all the same.
  func cancelRequest(_ id: RequestID, _ client: Client) {
    notify(client, "$/cancelRequest", ["id": id.value])
  }

  /// Removes and returns the request that a response belongs to; nil if there is no such request.
  func resolve(_ response: Response, from client: Client) -> PendingRequest? {
    guard let request = client.pending.remove(response.id) else { return nil }
    request.settle()
    return request
  }

  /// Removes and cancels a request that got no response in time.
  func expire(_ id: RequestID, _ client: Client) -> PendingRequest? {
    guard let request = client.pending.remove(id) else { return nil }
    request.settle()
    cancelRequest(id, client)
    return request
  }

  /// Sends the message that was written.
  private func send(to client: Client, _ tag: Outbox.MessageTag = .none) {
    guard let channel = client.channel, !client.link.isResumable else {
      return send(writer.bytes, to: client, tag)
    }
    writer.withBytes { channel.send($0, as: .text) }
    enforceLimits(client, channel)
  }

  /// Sends the written message without a number, if the client has a connection.
  private func sendUnnumbered(to client: Client) {
    writer.withBytes { client.channel?.send($0, as: .text) }
  }

  /// Sends a message, with a number if the client is resumable. A disconnected client gets it when
  /// it resumes. `tag` names the request, or the call whose progress the message reports.
  private func send(_ bytes: [UInt8], to client: Client, _ tag: Outbox.MessageTag = .none) {
    guard let channel = client.channel else {
      client.link.enqueue(bytes, tag)
      return enforceOutboxLimit(of: client)
    }
    send(bytes, to: client, over: channel)
  }

  /// Sends a message to a client on its connection, with a number if the client is resumable.
  private func send(_ bytes: [UInt8], to client: Client, over channel: any MessageChannel) {
    client.link.send(bytes, over: channel, after: journal?.barrier)
    markChanged(client)
    enforceLimits(client, channel)
  }

  /// Records that the state of a client has changed.
  @inline(__always)
  func markChanged(_ client: Client) {
    if let journal, client.link.markChanged() {
      journal.recordDeferredChange(.clientState(client.id))
    }
  }

  /// Releases messages of a resumed client after its connection has got the response to
  /// `session.resume`.
  func markResumed(_ client: Client) {
    client.link.markResumed()
    flush(client)
  }

  /// Sends messages that waited for changes which are stored now.
  func flush(_ client: Client) {
    guard client.link.flush(through: journal?.lastStored ?? 0), let channel = client.channel else {
      return
    }
    enforceLimits(client, channel)
  }

  private func enforceLimits(_ client: Client, _ channel: any MessageChannel) {
    let waiting = channel.bufferedBytes
    if waiting > limits.maxBacklog { enforceLimits(client, channel, waiting) }
    guard client.link.isResumable else { return }
    if resumableClients.updateOutboxSize(client) {
      channel.close(.slowConsumer, "more messages are unacknowledged than the outbox can hold")
    }
  }

  /// Acknowledges messages of a client, up to a number.
  func acknowledge(_ client: Client, through number: UInt64 = .max) {
    guard let channel = client.channel, let number = client.link.acknowledge(through: number) else {
      return
    }
    writer.writeAcknowledgement(of: number)
    writer.withBytes { channel.send($0, as: .text) }
  }

  /// Prepares the outbox of a resuming client that has received the messages up to `number`. The
  /// rest is sent again, followed by the held messages, after the resume response
  /// (``markResumed(_:)``).
  func resume(_ client: Client, after number: UInt64) {
    client.link.resume(after: number, journal?.barrier) { id, seq in
      client.pending[id]?.sequenceNumber = seq
    }
    markChanged(client)
    resumableClients.updateOutboxSize(client)
  }

  /// Releases the messages that a client has acknowledged.
  func releaseAcknowledged(by client: Client) {
    markChanged(client)
    resumableClients.updateOutboxSize(client)
  }

  /// Discards a disconnected client soon if its outbox exceeds the limit.
  private func enforceOutboxLimit(of client: Client) {
    markChanged(client)
    if client.link.isResumable, resumableClients.updateOutboxSize(client) {
      resumableClients.scheduleDiscard(client)
    }
  }

  /// Closes the connection of a client that exceeds its byte limit. Also closes it if the session
  /// exceeds its own limit; both include the bytes queued to be sent.
  private func enforceLimits(_ client: Client, _ channel: any MessageChannel, _ waiting: Int) {
    if waiting + client.budget.used > limits.maxClientBytes {
      channel.close(
        .slowConsumer, "the client uses more than \(limits.maxClientBytes) bytes of the server")
    } else if clients.queuedBytes + clients.budget.used > limits.maxSessionBytes {
      channel.close(
        .slowConsumer, "the session uses more than \(limits.maxSessionBytes) bytes of the server")
    }
  }
}
