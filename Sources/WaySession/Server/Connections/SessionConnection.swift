import WayRPC
import WayTransport

/// A connection that has a session: its messages go straight to that session.
final class SessionConnection: MessageReceiver {
  static let binaryRefusal = (
    code: CloseCode.unsupportedData, reason: "Binary messages are not taken: send JSON-RPC as text"
  )

  private let connection: Connection
  private let channel: any MessageChannel
  private let decoder: MessageDecoder
  private let inbox: Inbox
  private let turns: SessionLoopScheduler
  private let session: Session
  private let client: ClientID
  /// A plain one, whose client may still open a session.
  private let isAnonymous: Bool
  /// For how long the session is this server's for certain; nil where it always is.
  private let tenure: Tenure?

  init(
    connection: Connection, channel: any MessageChannel, decoder: MessageDecoder,
    inbox: Inbox, turns: SessionLoopScheduler, session: Session, client: ClientID,
    isAnonymous: Bool,
    tenure: Tenure?
  ) {
    self.tenure = session.isKeepable ? tenure : nil
    self.isAnonymous = isAnonymous
    self.connection = connection
    self.channel = channel
    self.decoder = decoder
    self.inbox = inbox
    self.turns = turns
    self.session = session
    self.client = client
  }

  /// The parser does.
  var checksText: Bool { true }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    guard kind == .text else {
      return channel.close(Self.binaryRefusal.code, Self.binaryRefusal.reason)
    }
    if turns.isPutOff(message, inbox.meter) {
      turns.putOff(message, on: channel) { [self] in take($0) }
    } else {
      take(message)
    }
  }

  private typealias IsolatedReceive<Session> =
    @Sendable (Session, Inbox, borrowing Frame, SequenceNumbers, Int, ClientID) -> Void

  private static let takeIsolated:
    @Sendable (isolated Session, Inbox, borrowing Frame, SequenceNumbers, Int, ClientID) -> Void = {
      $1.take($2, $3, bytes: $4, from: $5, in: $0)
    }
  /// The same, for who is on the session's loop for certain. What `assumeIsolated` does behind its
  /// check, without the memory for a closure, which would be a twentieth of a call.
  private static let take = unsafeBitCast(takeIsolated, to: IsolatedReceive<Session>.self)

  private func take(_ message: RawSpan) {
    inbox.meter.begin()
    if let tenure, tenure.isOver(at: inbox.meter.start) {
      return channel.close(.drain, "another server may have the session by now")
    }
    decoder.read(message) { frame, numbers in
      if case .notText = frame { return channel.close(.invalidPayload, CloseCode.notUTF8) }
      if isAnonymous, let incoming = frame.forConnection { return connection.take(back: incoming) }
      #if DEBUG
        session.preconditionIsolated()
      #endif
      Self.take(session, inbox, frame, numbers, message.byteCount, client)
    }
  }

  func closed(_ code: UInt16?) {
    connection.closed(code)
  }
}

extension Frame {
  /// All of it, where it may open a session, which the connection does; nil for most.
  fileprivate var forConnection: FrameContent? {
    switch self {
    case .request(let request):
      request.id != nil && request.isFor("session.open") ? .message(request.message) : nil
    case .other(.batch(let messages)):
      messages.contains(where: \.opensSession) ? .batch(messages) : nil
    case .other, .notText: nil
    }
  }
}

extension Message {
  fileprivate var opensSession: Bool {
    if case .request(let request) = self { request.method == "session.open" } else { false }
  }
}
