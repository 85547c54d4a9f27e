import WayRPC
import WayValues

/// How a connection ended.
public struct ConnectionEnd: Sendable, Hashable {
  /// The WebSocket close code (RFC 6455 §7.4; those from 4000 are in `protocol/codes.json`): 40xx
  /// are final, after 41xx a client backs off, after 42xx it connects again at once. nil where the
  /// connection was lost without one.
  public let code: UInt16?

  var error: CallError {
    CallError(
      .outcomeUnknown,
      "The connection closed\(code.map { " with code \($0)" } ?? "") before the answer came",
      kind: "closed", data: ["code": code.map { .integer(Int64($0)) } ?? .null])
  }

  var notSent: CallError {
    CallError(.unavailable, "The connection is closed; the call was not sent")
  }
}
