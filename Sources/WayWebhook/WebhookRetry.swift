/// The attempts to send one message.
struct WebhookRetry {
  /// The maximum number of attempts. With ``firstPause`` they take about a minute, plus the time of the
  /// requests.
  static let maxAttempts = 7
  static let firstPause = Duration.seconds(1)

  enum AttemptOutcome {
    /// The status of the response (RFC 9110 §15).
    case status(Int)
    /// There is no response, for this reason.
    case noResponse(String)
  }

  enum RetryStep: Equatable {
    case finished
    case wait(Duration, reason: String)
    case failed(reason: String)
  }

  private(set) var attempts = 0

  /// Returns what follows an attempt. `random` is from 0 to 1: a random part of each pause spreads the
  /// attempts of many messages.
  mutating func next(after outcome: AttemptOutcome, random: Double) -> RetryStep {
    attempts += 1
    let reason: String
    var isFinal = attempts >= Self.maxAttempts
    switch outcome {
    case .status(200..<300): return .finished
    case .status(let status):
      reason = "has responded with \(status)"
      // The receiver rejects the message itself. It can accept others of 4xx later.
      if (400..<500).contains(status), ![408, 425, 429].contains(status) { isFinal = true }
    case .noResponse(let text): reason = text
    }
    guard !isFinal else { return .failed(reason: reason) }
    let longest = Self.firstPause * (1 << (attempts - 1))
    return .wait(longest * (0.5 + random / 2), reason: reason)
  }
}
