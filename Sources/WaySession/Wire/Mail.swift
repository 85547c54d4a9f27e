import WayRPC
import WayTransport
import WayValues

/// Writes to the clients of one session, and keeps what they owe answers to. Belongs to its
/// ``Session``'s isolation.
final class Mail {
  private var writer = MessageWriter()
  private let limits: Limits

  init(limits: Limits) {
    self.limits = limits
  }

  /// Answers one request, at once or in its batch.
  func answer(_ answer: Answer, to address: ReplyAddress) {
    guard !address.isSilent else { return }
    let inBatch = address.batch != nil
    if case .value(let value) = answer {
      writer.response(address.id, value, inBatch: inBatch)
    } else {
      writer.response(address.id, answer.value, inBatch: inBatch)
    }
    send(to: address)
  }

  /// Refuses one request, at once or in its batch.
  func answer(_ error: CallError, to address: ReplyAddress) {
    guard !address.isSilent else { return }
    writer.error(address.id, error, inBatch: address.batch != nil)
    send(to: address)
  }

  /// Sends the answer that was written, which becomes an error where it is too large.
  private func send(to address: ReplyAddress) {
    let client = address.client
    var bytes = writer.bytes
    let limit = limits.maxAnswer - (address.batch?.size ?? 0)
    if bytes.count > limit {
      writer.error(
        address.id,
        CallError(
          .tooLarge, "The answer has \(bytes.count) bytes, more than \(limit)",
          data: ["limit": .integer(Int64(limits.maxAnswer))]), inBatch: address.batch != nil)
      bytes = writer.bytes
    }
    if let batch = address.batch {
      guard let whole = batch.answer(address.position, with: bytes) else { return }
      bytes = whole
    }
    client.channel?.send(bytes.span.bytes, as: .text)
  }

  /// Answers what is no message.
  func refuse(_ error: CallError, to client: Client) {
    writer.error(.null, error)
    send(to: client)
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

  /// Sends a request. Fails where there will be no answer: the client owes too many, or the params
  /// nest too deep to be written.
  func request(
    _ client: Client, _ method: String, _ params: Value, for purpose: RequestPurpose
  ) throws(RequestFailure) -> RequestID {
    let id: RequestID
    do {
      id = try client.pending.add(PendingRequest(method: method, purpose: purpose))
    } catch {
      // A host that never answers is gone for all that it is asked: its pages must not stay.
      client.channel?.close(.slowConsumer, "\(client.pending.count) requests were not answered")
      throw .unanswered(CallError(.hostAbsent, "The host does not answer"))
    }
    do {
      try writer.request(id, method, params)
    } catch {
      _ = client.pending.take(id)
      throw .unanswered(CallError(.tooLarge, "The host cannot be asked: \(error)"))
    }
    send(to: client)
    return id
  }

  /// Sets what rings when a request is not answered in time.
  func limit(_ id: RequestID, _ client: Client, _ timeout: any ScheduledWork) {
    client.pending.change(id) { $0.timeout = timeout }
  }

  /// Sends whole messages that the client has asked for, all of them or none. A client that does
  /// not read what it asked for would make the server grow: it is closed.
  func deliver(_ messages: [[UInt8]], to client: Client) {
    guard let channel = client.channel else { return }
    guard channel.bufferedBytes <= limits.maxBacklog else {
      return channel.close(.slowConsumer, "more than \(limits.maxBacklog) bytes wait to be read")
    }
    for bytes in messages { channel.send(bytes.span.bytes, as: .text) }
  }

  /// Tells a client that the answer to a request is not wanted any more. The request ends with what
  /// the client answers all the same.
  func cancelRequest(_ id: RequestID, _ client: Client) {
    notify(client, "$/cancelRequest", ["id": id.value])
  }

  /// The request that a response answers; nil for one that nobody has asked.
  func take(_ response: Response, from client: Client) -> PendingRequest? {
    guard let request = client.pending.take(response.id) else { return nil }
    request.timeout?.cancel()
    return request
  }

  /// Gives up a request that was not answered in time.
  func giveUp(_ id: RequestID, _ client: Client) -> PendingRequest? {
    guard let request = client.pending.take(id) else { return nil }
    cancelRequest(id, client)
    return request
  }

  private func send(to client: Client) {
    client.channel?.send(writer.bytes.span.bytes, as: .text)
  }
}
