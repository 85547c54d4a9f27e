/// The delay before each attempt to connect. It doubles with each attempt and has random jitter, so
/// that the clients of a server do not reconnect together.
struct ReconnectBackoff: Sendable {
  /// The full delay of the first attempt.
  var minDelay: Duration = .milliseconds(500)
  var maxDelay: Duration = .seconds(30)

  /// Returns half of the full delay to all of it. `failures` is the number of consecutive failures
  /// before the last one, and `jitter` is between 0 and 1.
  func delay(after failures: Int, jitter: Double) -> Duration {
    let full = min(maxDelay, minDelay * (1 << min(max(failures, 0), 30)))
    return full * (0.5 + min(max(jitter, 0), 1) / 2)
  }
}
