import Synchronization
import WayRPC
import WayTransport

/// The channel of one HTTP request: the body is its only incoming message, and the first response
/// that is sent on it becomes the HTTP response. Confined to its loop.
final class SessionHTTPChannel: MessageChannel, @unchecked Sendable {
  private static let lastID = Atomic<UInt64>(1 << 63)

  let id = lastID.add(1, ordering: .relaxed).newValue
  let loop: any EventLoop
  private let decoder: MessageDecoder
  /// Receives the response; nil if there will be none. Called once.
  private var respond: (([UInt8]?) -> Void)?
  private var receiver: (any MessageReceiver)?

  init(
    _ loop: any EventLoop, _ decoder: MessageDecoder, respond: @escaping ([UInt8]?) -> Void
  ) {
    self.loop = loop
    self.decoder = decoder
    self.respond = respond
  }

  var bufferedBytes: Int { 0 }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard respond != nil, isResponse(decoder.decode(message)) else { return }
    finish(message.withUnsafeBytes { [UInt8]($0) })
  }

  /// Progress and events have no receiver here.
  private func isResponse(_ incoming: FrameContent) -> Bool {
    switch incoming {
    case .message(.response), .malformed: true
    // A response that reports an error for a request without an id.
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
    let callback = respond
    respond = nil
    callback?(bytes)
  }
}
