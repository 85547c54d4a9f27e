import WayTransport

/// What a receiver was told, in order.
enum Event: Equatable, Sendable {
  case message([UInt8], MessageKind)
  case closed(UInt16?)

  static func text(_ text: String) -> Event { .message(Array(text.utf8), .text) }
}

/// Records what comes; with `echoes`, sends every message back.
final class Recorder: MessageReceiver {
  let events: AsyncStream<Event>
  let channel: any MessageChannel
  private let sink: AsyncStream<Event>.Continuation
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

  // The stream is not finished, so that a second call would show.
  func closed(_ code: UInt16?) {
    sink.yield(.closed(code))
  }
}

/// Accepts with recorders, and hands them to the test.
final class RecordingAcceptor: ChannelAcceptor {
  let accepted: AsyncStream<(Recorder, Handshake)>
  private let sink: AsyncStream<(Recorder, Handshake)>.Continuation
  private let echoes: Bool

  init(echoes: Bool = false) {
    self.echoes = echoes
    (accepted, sink) = AsyncStream.makeStream()
  }

  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    let recorder = Recorder(channel, echoes: echoes)
    sink.yield((recorder, handshake))
    return recorder
  }

  func next() async -> (Recorder, Handshake)? {
    var iterator = accepted.makeAsyncIterator()
    return await iterator.next()
  }
}

extension Recorder {
  func next() async -> Event? {
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
