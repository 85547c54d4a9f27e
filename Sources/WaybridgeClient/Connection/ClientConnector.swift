import WaySockets
import WayTransport
import WayValues

/// Opens the connections of one client, one after another.
package protocol ClientConnector: Sendable {
  /// Connects, and passes messages to the receiver that `accept` returns. `accept` is called on the
  /// client's loop, after the handshake and before the first message.
  func connect(
    _ accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(ConnectFailure)
}

/// The reason why a connection could not be opened.
package struct ConnectFailure: Error {
  let error: CallError
  /// Whether another attempt is useless.
  let isFinal: Bool

  package init(_ error: CallError, isFinal: Bool) {
    self.error = error
    self.isFinal = isFinal
  }
}

/// Connects over sockets.
struct SocketConnector: ClientConnector {
  let url: String
  let subprotocol: String?
  let loop: SocketLoop

  /// The largest message in bytes; a larger message of the server closes the connection with 1009.
  /// By default servers send at most 4 MiB.
  private static let maxMessage = 64 << 20

  func connect(
    _ accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(ConnectFailure) {
    do throws(SocketError) {
      try await SocketClient.connect(
        url: url, subprotocol: subprotocol, maxMessage: Self.maxMessage, on: loop, accept: accept)
    } catch {
      throw ConnectFailure(CallError(error), isFinal: error.isFinal)
    }
  }
}

extension CallError {
  init(_ error: SocketError) {
    switch error.kind {
    case .invalid: self = .invalidParams(error.description)
    default: self.init(.unavailable, error.description)
    }
  }
}

extension SocketError {
  /// Whether another attempt is useless. A client does not retry after a rejection (PROTOCOL.md,
  /// HTTP), except if the server is full or its proxy cannot reach it.
  fileprivate var isFinal: Bool {
    switch kind {
    case .invalid, .ended: true
    case .rejected(let status?): status < 500
    case .rejected(nil), .addressInUse, .system, .timeout: false
    }
  }
}
