import Synchronization

/// The type of a message (RFC 6455 §5.6).
package enum MessageKind: Sendable {
  case text
  case binary
}

/// A bidirectional connection for whole messages. It belongs to one ``EventLoop``; use it only on
/// that loop.
package protocol MessageChannel: AnyObject, Sendable {
  /// Unique among the channels of the process, and never reused.
  var id: UInt64 { get }

  /// The loop that this channel belongs to.
  var loop: any EventLoop { get }

  /// Replaces the receiver, from the next message on and for the end of the channel.
  func attach(_ receiver: any MessageReceiver)

  /// Sends one message. The bytes are copied, and no code is called that could change them. Text
  /// must be valid UTF-8. A closing channel sends nothing.
  func send(_ message: RawSpan, as kind: MessageKind)

  /// Ends the limits for peers that are not authenticated, if the channel has any. Idempotent.
  func admit()

  /// Stops receiving until ``resume()``. Most further data then stays at the peer.
  func pause()

  /// Receives again, in a later turn of the loop. Has no effect if the channel is not paused.
  func resume()

  /// Sends the queued data, then the close frame, and ends the connection. The receiver's
  /// `closed(_:)` is called later, once. `reason` is truncated to the 123 bytes that a close frame
  /// holds.
  func close(_ code: CloseCode, _ reason: String)

  /// Number of sent bytes that the peer's socket has not accepted yet.
  var bufferedBytes: Int { get }

  /// Moves to another loop, as another channel with the same ``id``. `onMoved` receives that
  /// channel on its loop, and attaches a receiver. Sent data is written before the move, and unread
  /// data is received after it.
  ///
  /// This channel must not be used afterwards. Its receiver is called again only if the connection
  /// ends before it could move. Returns false, with nothing changed, if the channel cannot move.
  func move(
    to loop: any EventLoop, _ onMoved: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool
}

extension MessageChannel {
  package func admit() {}

  package func move(
    to loop: any EventLoop, _ onMoved: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool { false }

  /// Receives nothing more until other channels have had their turn.
  package func pauseForOneTurn() {
    pause()
    loop.executeLater { [self] in resume() }
  }
}

/// The receiver of one ``MessageChannel``. All methods are called on the channel's loop.
package protocol MessageReceiver: AnyObject, Sendable {
  /// Receives one whole message. Text is valid UTF-8, unless ``checksText`` is set. The bytes are
  /// borrowed for the call.
  func receive(_ message: RawSpan, as kind: MessageKind)

  /// Whether the receiver validates the UTF-8 of texts itself, and closes with 1007 if they are
  /// invalid. The channel then does not validate them.
  var checksText: Bool { get }

  /// The channel has closed, and no further calls follow. `code` is that of the first close frame,
  /// sent or received (1005 if it had none). It is `nil` if the connection was lost without one.
  func closed(_ code: UInt16?)
}

extension MessageReceiver {
  package var checksText: Bool { false }
}

/// An acceptor of new channels, called on the channel's loop.
package protocol ChannelAcceptor: Sendable {
  /// Returns the receiver of a channel whose handshake is complete. Nothing has been received on it
  /// yet.
  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver
}

/// A path of the server that accepts WebSocket connections.
package struct Endpoint: Sendable {
  /// The exact path, without a query.
  package var path: String
  /// The supported subprotocols. A client that offers none is accepted without one. A client that
  /// offers only others is rejected in the handshake.
  package var subprotocols: [String]
  /// Maximum number of bytes of a message. A larger one closes the connection with 1009.
  package var maxMessage: Int
  /// The same until the acceptor's receiver has called ``MessageChannel/admit()``. `nil` admits each
  /// connection from the start.
  package var maxMessageBeforeAdmission: Int?
  /// Maximum number of unsent bytes of a connection. Beyond it the connection is closed with 4201.
  /// `nil` uses the server's limit.
  package var maxBuffered: Int?
  package var acceptor: any ChannelAcceptor

  package init(
    path: String, subprotocols: [String], maxMessage: Int, maxMessageBeforeAdmission: Int? = nil,
    maxBuffered: Int? = nil, acceptor: any ChannelAcceptor
  ) {
    self.path = path
    self.subprotocols = subprotocols
    self.maxMessage = maxMessage
    self.maxMessageBeforeAdmission = maxMessageBeforeAdmission
    self.maxBuffered = maxBuffered
    self.acceptor = acceptor
  }
}

/// The ids of all channels of the process. A later channel has a larger id.
package enum ChannelIDs {
  private static let last = Atomic<UInt64>(0)

  /// Returns an id that no other channel has had.
  package static func make() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
