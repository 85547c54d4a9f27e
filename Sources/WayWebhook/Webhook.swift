import WayDownload

/// The receiver of messages over HTTPS, in the form of the Standard Webhooks specification.
package struct Webhook: Sendable {
  /// The time within which the receiver must respond to one attempt.
  package static let requestTimeout = Duration.seconds(10)
  /// Sends one attempt, and returns the status of the response.
  typealias AttemptSender =
    @Sendable (_ body: [UInt8], _ headers: [String]) async throws(DownloadError) -> Int

  private let secrets: WebhookSecrets
  private let send: AttemptSender
  /// Seconds since 1970-01-01 UTC. Called on any thread.
  private let now: @Sendable () -> Int64
  private let pause: @Sendable (Duration) async throws -> Void
  /// Returns a random number from 0 to 1.
  private let random: @Sendable () -> Double

  /// Creates a webhook for an address: `https`, or `http` on this machine. Throws ``DownloadError``.
  package init(
    url: String, _ secrets: WebhookSecrets, userAgent: String,
    now: @escaping @Sendable () -> Int64
  ) throws(DownloadError) {
    let target = try DownloadURL(url)
    let options = DownloadOptions(maxSize: 64 << 10, userAgent: userAgent)
    self.init(
      secrets, now: now, pause: { try await Task.sleep(for: $0) },
      random: { Double.random(in: 0...1) },
      send: { (body, headers) async throws(DownloadError) -> Int in
        try await Download.post(
          body, to: target, headers: headers, options: options, timeout: Self.requestTimeout)
      })
  }

  init(
    _ secrets: WebhookSecrets, now: @escaping @Sendable () -> Int64,
    pause: @escaping @Sendable (Duration) async throws -> Void,
    random: @escaping @Sendable () -> Double, send: @escaping AttemptSender
  ) {
    self.secrets = secrets
    self.now = now
    self.pause = pause
    self.random = random
    self.send = send
  }

  /// Sends a message until the receiver has accepted it, with pauses as ``WebhookRetry`` decides.
  /// Throws ``WebhookError`` with the last reason, also if the task is cancelled.
  ///
  /// - Parameters:
  ///   - id: identifies the message; the same for each attempt.
  ///   - body: a JSON document.
  package func deliver(_ id: String, _ body: [UInt8]) async throws(WebhookError) {
    var retry = WebhookRetry()
    while true {
      let outcome = await attempt(id, body)
      switch retry.next(after: outcome, random: random()) {
      case .finished: return
      case .failed(let reason): throw WebhookError(reason: reason, attempts: retry.attempts)
      case .wait(let time, let reason):
        do { try await pause(time) } catch {
          throw WebhookError(reason: reason, attempts: retry.attempts)
        }
      }
    }
  }

  private func attempt(_ id: String, _ body: [UInt8]) async -> WebhookRetry.AttemptOutcome {
    // The receiver rejects messages with an old time, so each attempt has its own.
    let time = now()
    guard let signature = secrets.signature(ofMessage: id, at: time, body) else {
      return .noResponse("cannot be signed")
    }
    let headers = [
      "webhook-id: \(id)", "webhook-timestamp: \(time)", "webhook-signature: \(signature)",
    ]
    do throws(DownloadError) { return .status(try await send(body, headers)) } catch {
      return .noResponse(error.reason)
    }
  }
}

/// The reason why a receiver has not accepted a message.
package struct WebhookError: Error, Sendable, Hashable {
  /// The end of a sentence that begins with the receiver: "has responded with 500".
  package let reason: String
  package let attempts: Int
}
