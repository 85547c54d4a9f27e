import WayRPC
import WayTransport

/// A connection whose session is open: its messages go straight to that session.
final class OpenConnection: MessageReceiver {
  static let binaryRefusal = (
    code: CloseCode.unsupportedData, reason: "Binary messages are not taken: send JSON-RPC as text"
  )

  private let connection: Connection
  private let channel: any MessageChannel
  private let decoder: MessageDecoder
  private let inbox: Inbox
  private let turns: Turns
  private let session: Session
  private let client: ClientID

  init(
    connection: Connection, channel: any MessageChannel, decoder: MessageDecoder,
    inbox: Inbox, turns: Turns, session: Session, client: ClientID
  ) {
    self.connection = connection
    self.channel = channel
    self.decoder = decoder
    self.inbox = inbox
    self.turns = turns
    self.session = session
    self.client = client
  }

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

  private func take(_ message: RawSpan) {
    inbox.meter.begin()
    var numbers = MessageNumbers.none
    let incoming = decoder.decode(message, &numbers)
    let bytes = message.byteCount
    session.assumeIsolated { [numbers] in
      inbox.take(incoming, numbers, bytes: bytes, from: client, in: $0)
    }
  }

  func closed(_ code: UInt16?) {
    connection.closed(code)
  }
}
