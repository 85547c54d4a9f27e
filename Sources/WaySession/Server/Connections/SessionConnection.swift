import WayRPC
import WayTransport

/// A connection that has a session: its messages are forwarded directly to that session.
final class SessionConnection: MessageReceiver {
  private let connection: Connection
  private let channel: any MessageChannel
  private let decoder: MessageDecoder
  private let dispatcher: SessionRequestDispatcher
  private let scheduler: SessionLoopScheduler
  private let session: Session
  private let client: ClientID
  /// The loop of the session.
  private let loop: any EventLoop
  /// Whether it is a plain connection, whose client may still open a session.
  private let isAnonymous: Bool
  /// How long the session is certain to belong to this server; nil if it always does.
  private let leaseValidity: SessionLeaseValidity?

  init(
    of membership: SessionMembership, _ accepted: AcceptedConnection, connection: Connection,
    isAnonymous: Bool
  ) {
    let loopSessions = accepted.loopSessions
    self.connection = connection
    self.isAnonymous = isAnonymous
    channel = accepted.channel
    decoder = loopSessions.decoder
    dispatcher = loopSessions.dispatcher
    scheduler = loopSessions.scheduler
    session = membership.session
    client = membership.client
    loop = session.loop
    leaseValidity = session.isDurable ? loopSessions.leaseValidity : nil
  }

  /// The parser checks it.
  var checksText: Bool { true }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    guard kind == .text else {
      return channel.close(.unsupportedData, CloseCode.notText)
    }
    if scheduler.shouldDefer(message, dispatcher.meter) {
      scheduler.deferMessage(message, on: channel) { [self] in receive($0) }
    } else {
      receive(message)
    }
  }

  private typealias IsolatedReceive<Session> =
    @Sendable (
      Session, SessionRequestDispatcher, borrowing FrameView, SequenceNumbers, Int, ClientID
    ) ->
    Void

  private static let receiveIsolated:
    @Sendable (
      isolated Session, SessionRequestDispatcher, borrowing FrameView, SequenceNumbers, Int,
      ClientID
    ) -> Void = {
      $1.receive($2, $3, bytes: $4, from: $5, in: $0)
    }
  /// The same, for a caller that has checked that it is on the session's loop. It does what
  /// `assumeIsolated` does after its check, without allocating a closure, which would be a
  /// twentieth of the cost of a call.
  private static let receiveUnchecked = unsafeBitCast(
    receiveIsolated, to: IsolatedReceive<Session>.self)

  private func receive(_ message: RawSpan) {
    dispatcher.meter.begin()
    if let leaseValidity, leaseValidity.hasExpired(at: dispatcher.meter.start) {
      return channel.close(.drain, "another server may own the session now")
    }
    decoder.read(message) { frame, numbers in
      if case .invalidUTF8 = frame { return channel.close(.invalidPayload, CloseCode.notUTF8) }
      if isAnonymous, let incoming = frame.connectionMessage {
        return connection.receive(unhandled: incoming)
      }
      loop.checkIsolated()
      Self.receiveUnchecked(session, dispatcher, frame, numbers, message.byteCount, client)
    }
  }

  func closed(_ code: UInt16?) {
    connection.closed(code)
  }
}

extension FrameView {
  /// The whole frame if it may open a session, which the connection does; nil for most frames.
  fileprivate var connectionMessage: FrameContent? {
    switch self {
    case .request(let request):
      request.id != nil && request.hasMethod("session.open") ? .message(request.message) : nil
    case .decoded(.batch(let messages)):
      messages.contains(where: \.opensSession) ? .batch(messages) : nil
    case .decoded, .invalidUTF8: nil
    }
  }
}

extension Message {
  fileprivate var opensSession: Bool {
    if case .request(let request) = self { request.method == "session.open" } else { false }
  }
}
