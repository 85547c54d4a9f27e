import Foundation
import Waybridge

extension CommandError {
  /// The error of a call with its data, or the reason why the server at `url` cannot be reached.
  init(_ error: CallError, from url: String) {
    self.init(
      Self.connectionFailure(error, url) ?? "\(error)\(error.data.map { " \($0.text)" } ?? "")")
  }

  /// The message for an error of the connection, which the client itself has found; nil for an
  /// error of the server.
  private static func connectionFailure(_ error: CallError, _ url: String) -> String? {
    let message = error.message
    if error.protocolCode == .invalidParams, message.contains(" cannot be connected to: ") {
      return message
    }
    guard error.protocolCode == .unavailable else { return nil }
    if message.hasPrefix("cannot connect to "), let end = message.range(of: ": ") {
      let reason = message[end.upperBound...]
      // libwebsockets reports a refused connection in these words.
      let isRefused = reason == "closed before established"
      return "cannot connect to \(quoted(url)): \(isRefused ? "connection refused" : reason); "
        + "is the server running?"
    }
    if message.hasPrefix("ws://") || message.hasPrefix("the handshake with ") {
      return message.hasSuffix("HTTP status 404")
        ? "\(message); check the path of the URL" : message
    }
    return nil
  }
}
