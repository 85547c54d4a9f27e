/// Why requests are refused, in few words: what `/metrics` counts them by.
package enum RefusalKind: String, CaseIterable, Sendable {
  /// It is no HTTP, or asks for what is not done here.
  case request
  case host
  case origin
  /// It came through a proxy.
  case proxy
  /// It is no WebSocket handshake that is taken here.
  case handshake
  /// The server has as many connections as it takes.
  case full
  /// The server is ending.
  case ending
  /// The process has no descriptor left.
  case descriptors
}
