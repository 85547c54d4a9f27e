import WayTransport

/// Tracks how long a streamed response has been silent, and how long its client has accepted nothing.
/// It decides, and the response acts.
struct StreamLiveness {
  enum StreamLivenessAction: Hashable {
    case nothing
    /// Send the bytes that keep the connection open.
    case keepAlive
    /// The client is lost, or does not read.
    case expire
  }

  private var silence = Duration.zero
  private var stall = Duration.zero

  /// Records that one more interval between checks has passed.
  ///
  /// - Parameters:
  ///   - hasSent: Whether a part was sent since the last check.
  ///   - isAwaited: Whether the client has yet to accept bytes.
  ///   - hasProgress: Whether it has accepted some since the last check.
  ///   - maxStall: The time without progress after which the client is lost.
  mutating func advance(
    by interval: Duration, ping: Duration, maxStall: Duration, hasSent: Bool, isAwaited: Bool,
    hasProgress: Bool
  ) -> StreamLivenessAction {
    stall = isAwaited && !hasProgress ? stall + interval : .zero
    if stall >= maxStall { return .expire }
    silence = hasSent ? .zero : silence + interval
    // Bytes that wait have the same effect.
    guard silence >= ping, !isAwaited else { return .nothing }
    silence = .zero
    return .keepAlive
  }
}
