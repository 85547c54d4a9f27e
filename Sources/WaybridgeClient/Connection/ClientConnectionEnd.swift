import WayRPC
import WayTransport
import WayValues

/// How a connection ended.
public struct ClientConnectionEnd: Sendable, Hashable {
  /// The WebSocket close code (RFC 6455 §7.4; those from 4000 are in `protocol/codes.json`): 40xx
  /// are final, after 41xx a client backs off, after 42xx it connects again at once. nil where the
  /// connection was lost without one.
  public let code: UInt16?

  /// What calls end with that have no answer.
  var error: CallError {
    // No call is begun on a connection before it is known whose it is.
    if code == CloseCode.notAuthenticated.rawValue {
      return CallError(.notAuthenticated, "The bridge takes nobody without a token")
    }
    return CallError(
      .outcomeUnknown,
      "The connection closed\(code.map { " with code \($0)" } ?? "") before the answer came",
      kind: "closed", data: ["code": code.map { .integer(Int64($0)) } ?? .null])
  }

  var notSent: CallError {
    CallError(.unavailable, "The connection is closed; the call was not sent")
  }
}
