/// What a message consists of (RFC 6455 §5.6).
package enum MessageKind: Sendable {
  case text
  case binary
}

/// A connection that carries whole messages both ways. It belongs to one ``EventLoop`` and is used
/// on that loop only.
package protocol MessageChannel: AnyObject, Sendable {
  /// Unique among the channels of the process, and never used again.
  var id: UInt64 { get }

  /// The loop that this channel belongs to.
  var loop: any EventLoop { get }

  /// From the next message on, and for the end, another receiver takes the place of the one before.
  func attach(_ receiver: any MessageReceiver)

  /// Sends one message; the bytes are copied, and nobody is called back who might write others in
  /// their place. Text must be valid UTF-8. Nothing is sent once the channel closes.
  func send(_ message: RawSpan, as kind: MessageKind)

  /// Receives nothing until ``resume()``: what comes waits, for the most part at the peer.
  func pause()

  /// Receives again, in a later turn of the loop. Nothing happens where it was not paused.
  func resume()

  /// Sends what waits, then the close frame, and ends the connection. The receiver's `closed` comes
  /// later, once. `reason` is cut to the 123 bytes that a close frame holds.
  func close(_ code: CloseCode, _ reason: String)

  /// Bytes that were sent and that the peer's socket has not taken yet.
  var bufferedBytes: Int { get }

  /// Goes on, on another loop, as another channel of the same ``id``: `goOn` is given it there, and
  /// attaches a receiver. What was sent goes out before, and what has not been received comes after.
  /// This one is not used any more; its receiver hears of it again only where the connection ends
  /// before it could move. False where it cannot move: then nothing has changed.
  func move(
    to loop: any EventLoop, _ goOn: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool
}

extension MessageChannel {
  package func move(
    to loop: any EventLoop, _ goOn: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool { false }

  /// Receives nothing more until the others have had their turn.
  package func letOthersGoFirst() {
    pause()
    loop.executeLater { [self] in resume() }
  }
}

/// What takes the messages of one ``MessageChannel``. All calls come on the channel's loop.
package protocol MessageReceiver: AnyObject, Sendable {
  /// One whole message; text is valid UTF-8, unless ``checksText``. The bytes are borrowed for the
  /// call.
  func receive(_ message: RawSpan, as kind: MessageKind)

  /// Whether this looks itself whether a text is UTF-8, and closes with 1007 where it is none, so
  /// that the channel need not look too.
  var checksText: Bool { get }

  /// The channel is gone; nothing comes after this. `code` is that of the first close frame, the
  /// peer's or this side's (1005 where it had none); nil where the connection was lost without one.
  func closed(_ code: UInt16?)
}

extension MessageReceiver {
  package var checksText: Bool { false }
}

/// What takes new channels, on the channel's loop.
package protocol ChannelAcceptor: Sendable {
  /// Gives the receiver for a channel whose handshake is done. Nothing has been received on it yet.
  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver
}

/// A path of the server at which WebSocket connections are taken.
package struct Endpoint: Sendable {
  /// The path, exactly, without query.
  package var path: String
  /// The subprotocols that are spoken here. A client that offers none is taken without one;
  /// one that offers only others is refused at the handshake.
  package var subprotocols: [String]
  /// Bytes; a larger message closes the connection with 1009.
  package var maxMessage: Int
  /// Bytes that may wait to be sent on a connection; beyond, it is closed with 4201. Nil takes the
  /// server's limit.
  package var maxBuffered: Int?
  package var acceptor: any ChannelAcceptor

  package init(
    path: String, subprotocols: [String], maxMessage: Int, maxBuffered: Int? = nil,
    acceptor: any ChannelAcceptor
  ) {
    self.path = path
    self.subprotocols = subprotocols
    self.maxMessage = maxMessage
    self.maxBuffered = maxBuffered
    self.acceptor = acceptor
  }
}
