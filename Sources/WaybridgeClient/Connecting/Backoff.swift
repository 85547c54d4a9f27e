/// How long to wait before each try to connect: twice as long each time, and never the same for all
/// clients of a server.
struct Backoff: Sendable {
  /// The delay of the first try.
  var least: Duration = .milliseconds(500)
  var most: Duration = .seconds(30)

  /// From half of the full delay to all of it: `failures` is how many there were in a row before
  /// the last, and `jitter` anything from 0 to 1.
  func delay(after failures: Int, jitter: Double) -> Duration {
    let full = min(most, least * (1 << min(max(failures, 0), 30)))
    return full * (0.5 + min(max(jitter, 0), 1) / 2)
  }
}
