import WayRPC
import WayTransport
import WayValues

/// Responds to requests of a connection that has no session, and measures them. Confined to the
/// connection's loop.
struct ConnectionResponder: ~Copyable {
  private let channel: any MessageChannel
  private let loopSessions: LoopSessions
  private var writer = MessageWriter()

  init(_ accepted: AcceptedConnection) {
    channel = accepted.channel
    loopSessions = accepted.loopSessions
  }

  /// Responds to a message that is not forwarded to a session, if it is one that gets a response.
  mutating func respond(to incoming: FrameContent, in state: SessionAdmissionState) {
    switch incoming {
    case .message(.request(let request)):
      respond(to: request, state.received(request.method, inBatch: false))
    case .batch(let messages): respond(to: messages, in: state)
    case .malformed(let error): send(.null, .failure(error))
    case .message(.invalid(let id, let error)): send(id, .failure(error))
    case .message: break
    }
  }

  /// Responds to a request. A connection handles no other message in this turn of the loop after an
  /// error.
  mutating func respond(to request: Request, _ result: Result<Value, CallError>) {
    let error: CallError? = if case .failure(let error) = result { error } else { nil }
    record(request, error)
    send(request.id, result)
    if error != nil { channel.pauseForOneTurn() }
  }

  private mutating func send(_ id: RequestID, _ result: Result<Value, CallError>) {
    writer.writeResult(id, result)
    writer.withBytes { channel.send($0, as: .text) }
  }

  /// Responds to a request that needs no session, or that is not allowed without one.
  private mutating func respond(
    to request: Request, _ action: SessionAdmissionState.AdmissionAction
  ) {
    loopSessions.meter.begin()
    write(action, to: request)
    writer.withBytes { channel.send($0, as: .text) }
    channel.pauseForOneTurn()
  }

  /// Responds to each request of a batch that cannot be forwarded to a session.
  private mutating func respond(to messages: [Message], in state: SessionAdmissionState) {
    let reply = SessionBatchResponse(messages)
    for (position, message) in messages.enumerated() {
      switch message {
      case .notification, .response: continue
      case .invalid(let id, let error): writer.writeError(id, error, inBatch: true)
      case .request(let request):
        let action = state.received(request.method, inBatch: true)
        loopSessions.meter.begin()
        write(
          action == .forward ? .rejectInBatch : action, to: request, inBatch: true,
          limit: loopSessions.limits.maxAnswer - reply.size)
      }
      if reply.fill(position, with: writer.bytes), let whole = reply.encoded {
        channel.send(whole.span.bytes, as: .text)
      }
    }
    channel.pauseForOneTurn()
  }

  private mutating func write(
    _ action: SessionAdmissionState.AdmissionAction, to request: Request, inBatch: Bool = false,
    limit: Int = .max
  ) {
    if action == .discover {
      record(request, nil)
      writer.writeResponse(request.id, written: OpenRPC.text, inBatch: inBatch, limit: limit)
      return
    }
    let error =
      action == .rejectInBatch
      ? CallError(.invalidRequest, "\(request.method) must not be part of a batch")
      : CallError(.sessionNotOpen, "Send session.open first")
    record(request, error)
    writer.writeError(request.id, error, inBatch: inBatch)
  }

  private func record(_ request: Request, _ error: CallError?) {
    let methodIndex = loopSessions.meter.methodIndex(
      loopSessions.dispatcher.methods.find(request.method)?.place)
    loopSessions.meter.record(methodIndex, code: error?.code)
  }
}
