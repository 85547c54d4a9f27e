import WayDownload
import Waybridge

/// The state of requests for a provider's key set.
struct TokenKeySetFetchState: Sendable {
  let provider: TokenKeyProvider
  /// The entity tag of the current key set.
  var etag: String?
  /// The keys of the document that are not used, see ``JSONWebKeySet/faults``.
  var faults: [String]
  /// When the last request was sent, by the provider's clock.
  var lastRequest: Duration
  /// How many requests have failed.
  var failures = 0
  /// How many requests have failed since the last good one.
  var consecutiveFailures = 0
  /// The running request.
  var request: Task<FileReload, Never>?

  /// The unused keys as text, at most eight of them.
  var faultText: String? {
    guard !faults.isEmpty else { return nil }
    let listed = faults.prefix(8).joined(separator: "; ")
    return faults.count > 8 ? "\(listed); and \(faults.count - 8) more" : listed
  }
}
