import WaySockets
import WayTransport
import WayValues

/// Makes the connections of one client, one after another.
package protocol ClientConnector: Sendable {
  /// Connects, and hands the messages to the receiver that `accept` gives; that is called on the
  /// client's loop, once the handshake is done and before the first message.
  func connect(
    _ accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(ConnectFailure)
}

/// Why there is no connection.
package struct ConnectFailure: Error {
  let error: CallError
  /// Whether another try is of no use.
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

  /// Bytes; a larger message of the server closes the connection with 1009. Servers send at most 4
  /// MiB, unless told otherwise.
  private static let maxIncoming = 64 << 20

  func connect(
    _ accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(ConnectFailure) {
    do throws(SocketError) {
      try await SocketClient.connect(
        url: url, subprotocol: subprotocol, maxMessage: Self.maxIncoming, on: loop, accept: accept)
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
  /// A server that refuses is not asked for ever (PROTOCOL.md, HTTP), save one that is full or
  /// whose proxy does not reach it.
  fileprivate var isFinal: Bool {
    switch kind {
    case .invalid, .ended: true
    case .refused(let status?): status < 500
    case .refused(nil), .addressInUse, .system, .timeout: false
    }
  }
}
