import WayTransport

/// An event that a receiver recorded.
enum ReceiverEvent: Equatable, Sendable {
  case message([UInt8], MessageKind)
  case closed(UInt16?)

  static func text(_ text: String) -> ReceiverEvent { .message(Array(text.utf8), .text) }
}

/// Records its events. If `echoes` is set, sends every message back.
final class RecordingReceiver: MessageReceiver {
  let events: AsyncStream<ReceiverEvent>
  let channel: any MessageChannel
  private let sink: AsyncStream<ReceiverEvent>.Continuation
  private let echoes: Bool

  init(_ channel: any MessageChannel, echoes: Bool = false) {
    self.channel = channel
    self.echoes = echoes
    (events, sink) = AsyncStream.makeStream()
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    sink.yield(.message(message.withUnsafeBytes { Array($0) }, kind))
    if echoes { channel.send(message, as: kind) }
  }

  // The stream stays open, so that a second call would be recorded.
  func closed(_ code: UInt16?) {
    sink.yield(.closed(code))
  }
}

/// Accepts connections with recording receivers and hands these to the test.
final class RecordingAcceptor: ChannelAcceptor {
  let accepted: AsyncStream<(RecordingReceiver, Handshake)>
  private let sink: AsyncStream<(RecordingReceiver, Handshake)>.Continuation
  private let echoes: Bool

  init(echoes: Bool = false) {
    self.echoes = echoes
    (accepted, sink) = AsyncStream.makeStream()
  }

  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    let recorder = RecordingReceiver(channel, echoes: echoes)
    sink.yield((recorder, handshake))
    return recorder
  }

  func next() async -> (RecordingReceiver, Handshake)? {
    var iterator = accepted.makeAsyncIterator()
    return await iterator.next()
  }
}

extension RecordingReceiver {
  func next() async -> ReceiverEvent? {
    var iterator = events.makeAsyncIterator()
    return await iterator.next()
  }
}

extension MessageChannel {
  func send(text: String) {
    var text = text
    text.withUTF8 { send(UnsafeRawBufferPointer($0).bytes, as: .text) }
  }

  func send(bytes: [UInt8], as kind: MessageKind = .binary) {
    bytes.withUnsafeBytes { send($0.bytes, as: kind) }
  }
}
