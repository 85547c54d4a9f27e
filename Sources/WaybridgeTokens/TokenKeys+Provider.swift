import Logging
import WayDownload
import Waybridge

// Keys of an identity provider.
extension TokenKeys {
  /// How many requests for the provider's keys have failed since the start; 0 without a provider.
  public var fetchFailures: Int { providerKeys?.failures ?? 0 }

  /// Fetches the key set at the start. Throws if there is none.
  static func fetchFirst(
    _ provider: TokenKeyProvider, into keySet: inout TokenKeySet, logger: Logger?
  ) async throws(TokenKeyError) -> TokenKeySetFetchState {
    var state = TokenKeySetFetchState(
      provider: provider, etag: nil, faults: [], lastRequest: provider.now())
    let response = await Self.response(of: provider, etag: nil)
    do throws(JSONWebKeyError) {
      try apply(try response.get(), to: &keySet, &state, logger: logger)
    } catch {
      throw TokenKeyError(keySetURL: provider.url, error.reason)
    }
    return state
  }

  /// Fetches the provider's keys because a token names an unknown one. Returns false if that was
  /// not allowed: the last request is too recent, or there is no provider.
  func refreshForUnknownKey() async -> Bool {
    guard let state = providerKeys else { return false }
    let elapsed = state.provider.now() - state.lastRequest
    guard state.request != nil || elapsed >= TokenKeyProvider.minInterval else { return false }
    return await refresh() != nil
  }

  /// Fetches the provider's keys, and applies them if they are valid. If a request is running, waits
  /// for that one. Returns nil without a provider.
  func refresh() async -> FileReload? { await request()?.value }

  /// Fetches the provider's keys periodically, until the task is cancelled.
  nonisolated func refreshRepeatedly(
    pause: @Sendable (Duration) async throws -> Void
  ) async {
    while let failures = await providerKeys?.consecutiveFailures {
      do { try await pause(TokenKeyProvider.pause(afterFailures: failures)) } catch { return }
      guard !Task.isCancelled, let request = await request() else { return }
      await withTaskCancellationHandler {
        _ = await request.value
      } onCancel: {
        request.cancel()
      }
    }
  }

  /// The running request, or a new one.
  private func request() -> Task<FileReload, Never>? {
    guard let state = providerKeys else { return nil }
    if let request = state.request { return request }
    let request = Task { await fetch(state.provider, etag: state.etag) }
    providerKeys?.lastRequest = state.provider.now()
    providerKeys?.request = request
    return request
  }

  private func fetch(_ provider: TokenKeyProvider, etag: String?) async -> FileReload {
    let response = await Self.response(of: provider, etag: etag)
    providerKeys?.request = nil
    guard var state = providerKeys else { return FileReload(provider) }
    defer { providerKeys = state }
    do throws(JSONWebKeyError) {
      let result = try response.get()
      let hash = keySet.hash
      do throws(JSONWebKeyError) {
        try Self.apply(result, to: &keySet, &state, logger: logger)
      } catch {
        rejections += 1
        _ = report(FileReload(provider, rejection: error.reason))
        throw error
      }
      state.consecutiveFailures = 0
      if keySet.hash != hash {
        logger?.info("token keys changed", metadata: ["url": "\(provider.url)"])
        return report(FileReload(provider))
      }
      return FileReload(provider)
    } catch {
      state.failures += 1
      state.consecutiveFailures += 1
      if !Task.isCancelled {
        logger?.warning(
          "token keys not fetched; the last valid ones are used",
          metadata: ["url": "\(provider.url)", "reason": "\(error.reason)"])
      }
      return FileReload(provider, rejection: error.reason)
    }
  }

  private typealias ProviderResponse = Result<Download.DownloadResult, JSONWebKeyError>

  private static func response(
    of provider: TokenKeyProvider, etag: String?
  ) async -> ProviderResponse {
    do throws(DownloadError) {
      return .success(try await provider.fetch(etag))
    } catch {
      return .failure(JSONWebKeyError(error.reason))
    }
  }

  /// Replaces the provider's keys as a whole or not at all.
  private static func apply(
    _ result: Download.DownloadResult, to keySet: inout TokenKeySet,
    _ state: inout TokenKeySetFetchState,
    logger: Logger?
  ) throws(JSONWebKeyError) {
    guard case .document(let bytes, let etag) = result else { return }
    let document = try JSONWebKeySet(bytes)
    let url = state.provider.url
    do throws(FileError) {
      try keySet.replaceProviderKeys(document.keys, of: url)
    } catch {
      throw JSONWebKeyError(error.reason)
    }
    state.etag = etag
    let isChanged = state.faults != document.faults
    state.faults = document.faults
    if isChanged, let text = state.faultText {
      logger?.warning(
        "keys of the provider ignored", metadata: ["url": "\(url)", "reason": "\(text)"])
    }
  }
}

extension FileReload {
  /// Creates the result of fetching the keys of a provider.
  fileprivate init(_ provider: TokenKeyProvider, rejection: String? = nil) {
    self.init(.keys, path: provider.url, source: .fetch, rejection: rejection)
  }
}
