import CWayNATS
import WayTransport

/// Receives the callbacks of the library's threads. It must outlive the connection.
final class NATSListener: Sendable {
  private struct ListenerHandlers {
    var messageReceived: (@Sendable ([UInt8], _ subject: String) -> Void)?
    var messagesLost: (@Sendable () -> Void)?
  }

  private let handlers = Locked(ListenerHandlers())

  static func from(_ pointer: UnsafeMutableRawPointer?) -> NATSListener? {
    pointer.map { Unmanaged<NATSListener>.fromOpaque($0).takeUnretainedValue() }
  }

  func start(
    _ messageReceived: @escaping @Sendable ([UInt8], _ subject: String) -> Void,
    _ messagesLost: @escaping @Sendable () -> Void
  ) {
    handlers.withLock {
      $0 = ListenerHandlers(messageReceived: messageReceived, messagesLost: messagesLost)
    }
  }

  func stop() { handlers.withLock { $0 = ListenerHandlers() } }

  func receive(_ message: OpaquePointer?) {
    guard let received = handlers.withLock({ $0.messageReceived }) else { return }
    received(
      NATSConnection.bytes(of: message),
      natsMsg_GetSubject(message).map { String(cString: $0) } ?? "")
  }

  func reportMessagesLost() { handlers.withLock { $0.messagesLost }?() }
}
