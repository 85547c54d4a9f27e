import Synchronization
import WayRPC
import WayTransport

/// The connection of one HTTP request: what is received on it is the body, and the first response
/// that is sent on it is the answer. Confined to its loop.
final class HTTPRequestChannel: MessageChannel, @unchecked Sendable {
  private static let made = Atomic<UInt64>(1 << 63)

  let id = made.add(1, ordering: .relaxed).newValue
  let loop: any EventLoop
  private let decoder: MessageDecoder
  /// Takes the answer; nil where there will be none. Called once.
  private var answer: (([UInt8]?) -> Void)?
  private var receiver: (any MessageReceiver)?

  init(
    _ loop: any EventLoop, _ decoder: MessageDecoder, answer: @escaping ([UInt8]?) -> Void
  ) {
    self.loop = loop
    self.decoder = decoder
    self.answer = answer
  }

  var bufferedBytes: Int { 0 }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard answer != nil, isAnswer(decoder.decode(message)) else { return }
    finish(message.withUnsafeBytes { [UInt8]($0) })
  }

  /// Progress and events are nobody's here.
  private func isAnswer(_ incoming: FrameContent) -> Bool {
    switch incoming {
    case .message(.response), .malformed: true
    // An answer that tells a failure of what has no id.
    case .message(.invalid): true
    case .batch(let messages): messages.contains { if case .response = $0 { true } else { false } }
    case .message: false
    }
  }

  /// Nothing follows the body.
  func pause() {}
  func resume() {}

  func close(_ code: CloseCode, _ reason: String) { finish(nil) }

  private func finish(_ bytes: [UInt8]?) {
    let taken = answer
    answer = nil
    taken?(bytes)
  }
}
