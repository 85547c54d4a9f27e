import CWayNATS
import WayTransport

/// What the library's threads tell. It must outlive the connection.
final class Listener: Sendable {
  private struct Handlers {
    var received: (@Sendable ([UInt8]) -> Void)?
    var cutOff: (@Sendable () -> Void)?
  }

  private let handlers = Locked(Handlers())

  static func of(_ pointer: UnsafeMutableRawPointer?) -> Listener? {
    pointer.map { Unmanaged<Listener>.fromOpaque($0).takeUnretainedValue() }
  }

  func begin(
    _ received: @escaping @Sendable ([UInt8]) -> Void, _ cutOff: @escaping @Sendable () -> Void
  ) {
    handlers.withLock { $0 = Handlers(received: received, cutOff: cutOff) }
  }

  func end() { handlers.withLock { $0 = Handlers() } }

  func take(_ message: OpaquePointer?) {
    handlers.withLock { $0.received }?(NATSConnection.bytes(of: message))
  }

  func cutOff() { handlers.withLock { $0.cutOff }?() }
}
