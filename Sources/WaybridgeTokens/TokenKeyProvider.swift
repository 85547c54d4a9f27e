import WayDownload
import Waybridge

/// The address of an identity provider's key set, and when it may be fetched.
struct TokenKeyProvider: Sendable {
  /// The time from one request to the next one.
  static let interval = Duration.seconds(600)
  /// The least time between two requests for tokens with unknown keys, and after a failure. All
  /// tokens share it, so that their senders cannot cause more requests.
  static let minInterval = Duration.seconds(30)
  /// The limit of one request, less than `BridgeConfiguration.sessions.identifyTimeout`, within which a
  /// client waits for it.
  static let requestTimeout = Duration.seconds(4)

  /// The address of the key set.
  let url: String
  /// Requests the key set, with the entity tag of the current one.
  let fetch: @Sendable (String?) async throws(DownloadError) -> Download.DownloadResult
  /// The current time of a clock that only advances. Called on any thread.
  let now: @Sendable () -> Duration

  /// Creates a provider with a URL, see `TokenKeys.load`. Throws ``DownloadError``.
  init(url text: String) throws(DownloadError) {
    let source = try DownloadURL(text)
    let options = DownloadOptions(
      maxSize: JSONWebKeySet.maxSize, userAgent: "waybridge/\(BridgeServer.version)")
    let start = ContinuousClock.now
    self.init(
      url: text, now: { ContinuousClock.now - start },
      fetch: { (etag) async throws(DownloadError) -> Download.DownloadResult in
        try await Download.get(source, etag: etag, options: options, timeout: Self.requestTimeout)
      })
  }

  init(
    url: String, now: @escaping @Sendable () -> Duration,
    fetch: @escaping @Sendable (String?) async throws(DownloadError) -> Download.DownloadResult
  ) {
    self.url = url
    self.now = now
    self.fetch = fetch
  }

  /// The random time until the next request after a number of failures in a row, so that many
  /// servers do not send requests at the same time.
  static func pause(afterFailures failures: Int) -> Duration {
    guard failures > 0 else { return interval * Double.random(in: 0.9...1) }
    let next = min(minInterval * (1 << min(failures, 10)), interval)
    return max(next * Double.random(in: 0.5...1), minInterval)
  }
}
