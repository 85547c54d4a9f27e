import WayRPC
import WayTransport
import WayValues

/// How a connection ended.
public struct ClientConnectionEnd: Sendable, Hashable {
  /// The WebSocket close code (RFC 6455 §7.4; codes from 4000 are in `protocol/codes.json`). 40xx
  /// are final, after 41xx a client backs off, after 42xx it reconnects at once. nil if the
  /// connection was lost without a close code.
  public let code: UInt16?

  /// The error of calls that were sent and have no response.
  var error: CallError {
    // No call is started on a connection before the client is authenticated.
    if code == CloseCode.notAuthenticated.rawValue {
      return CallError(.notAuthenticated, "The server requires a token")
    }
    return CallError(
      .outcomeUnknown,
      "The connection closed\(code.map { " with code \($0)" } ?? "") before the response arrived",
      kind: "closed", data: ["code": code.map { .integer(Int64($0)) } ?? .null])
  }

  var notSentError: CallError {
    CallError(.unavailable, "The connection is closed; the call was not sent")
  }
}
