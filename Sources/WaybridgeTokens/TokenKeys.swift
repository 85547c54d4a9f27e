import Logging
import ServiceLifecycle
import WayDownload
import Waybridge

/// Keys that verify tokens, from files that are read again when they change, and from an identity
/// provider.
///
/// ```swift
/// let keys = try await TokenKeys.load(keyFile: "/etc/shop/tokens.pem")
/// let token = try await keys.verify("eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl")
/// print(token.subject, token.groups)
/// ```
///
/// It is a `Service` of swift-service-lifecycle: the files are watched, and
/// the provider's keys are fetched again, while ``run()`` runs.
public actor TokenKeys: Service, ReloadableKeys {
  private let files: [TokenKeyFile]
  private let rules: TokenRules
  let logger: Logger?
  private let watchedFiles: [WatchedFile]
  var keySet: TokenKeySet
  var providerKeys: TokenKeySetFetchState?
  private var reloadStreams: [Int: AsyncStream<FileReload>.Continuation] = [:]
  private var lastReloadStream = 0
  /// How often the content of a file or of a provider's key set was rejected.
  public internal(set) var rejections = 0

  /// Reads a secret for HS256, public keys for EdDSA, and the key set of an identity provider.
  /// Throws ``TokenKeyError``, also if the key set cannot be fetched within four seconds.
  ///
  /// - Parameters:
  ///   - secretFile: see ``TokenKeyFile/secret(_:id:)``.
  ///   - keyFile: see ``TokenKeyFile/publicKeys(_:)``.
  ///   - keySetURL: the address of the provider's public keys for RS256, ES256 and EdDSA (`jwks_uri`
  ///     of OpenID Connect): `https`, or `http` of this machine's loopback. Requires
  ///     ``TokenRules/issuer``. At most 256 KiB and 64 keys.
  ///   - rules: requirements on all tokens in addition to a signature.
  ///   - logger: logs each change of keys: `info` if its keys were applied, `warning` with the
  ///     reason if they were not; never the file's content.
  public static func load(
    secretFile: String? = nil, keyFile: String? = nil, keySetURL: String? = nil,
    rules: TokenRules = TokenRules(), logger: Logger? = nil
  ) async throws(TokenKeyError) -> TokenKeys {
    var files: [TokenKeyFile] = []
    if let secretFile { files.append(.secret(secretFile)) }
    if let keyFile { files.append(.publicKeys(keyFile)) }
    guard let keySetURL else { return try await load(files, rules: rules, logger: logger) }
    let provider: TokenKeyProvider
    do throws(DownloadError) {
      provider = try TokenKeyProvider(url: keySetURL)
    } catch {
      throw TokenKeyError(keySetURL: keySetURL, error.reason)
    }
    return try await load(files, provider: provider, rules: rules, logger: logger)
  }

  /// Reads several files, at most 32 keys together. Keys of one algorithm need different ids, or
  /// none. Without files every token is rejected. Throws ``TokenKeyError``.
  public static func load(
    _ files: [TokenKeyFile], rules: TokenRules = TokenRules(), logger: Logger? = nil
  ) async throws(TokenKeyError) -> TokenKeys {
    try await load(files, provider: nil, rules: rules, logger: logger)
  }

  static func load(
    _ files: [TokenKeyFile], provider: TokenKeyProvider?, rules: TokenRules, logger: Logger?
  ) async throws(TokenKeyError) -> TokenKeys {
    var watchedFiles: [WatchedFile] = []
    var keySet = TokenKeySet(files: files.count)
    for (index, file) in files.enumerated() {
      var watchedFile = file.watchedFile
      do throws(FileError) {
        let keys = try file.keys(in: try watchedFile.read())
        try keySet.replace(index, with: keys, of: file.path)
      } catch {
        throw TokenKeyError(error, in: file)
      }
      watchedFiles.append(watchedFile)
    }
    var providerKeys: TokenKeySetFetchState?
    if let provider {
      guard rules.issuer?.isEmpty == false else {
        throw TokenKeyError(
          keySetURL: provider.url, "needs the issuer of its tokens (`iss`), which is not set")
      }
      providerKeys = try await fetchFirst(provider, into: &keySet, logger: logger)
    }
    return TokenKeys(
      files: files, rules: rules, logger: logger, watchedFiles: watchedFiles, keySet: keySet,
      providerKeys: providerKeys)
  }

  private init(
    files: [TokenKeyFile], rules: TokenRules, logger: Logger?, watchedFiles: [WatchedFile],
    keySet: TokenKeySet, providerKeys: TokenKeySetFetchState?
  ) {
    self.files = files
    self.rules = rules
    self.logger = logger
    self.watchedFiles = watchedFiles
    self.keySet = keySet
    self.providerKeys = providerKeys
  }

  /// Verifies a token's signature and claims. Throws ``TokenError``.
  ///
  /// Accepts tokens of at most 8 KiB, signed with HS256, EdDSA, RS256 or ES256 by one of these
  /// keys. Their `sub` must be a string and their `aud` must contain ``TokenRules/audience``. They
  /// are valid from their `nbf` until their `exp`. May be called from any thread, and does not wait
  /// for files. If a token names an unknown key, it waits for one request for the provider's keys,
  /// which is sent at most every 30 seconds for all tokens together.
  public nonisolated func verify(_ token: String) async throws(TokenError) -> Token {
    let unverified = try UnverifiedToken(token)
    guard try await isSigned(unverified) else {
      throw TokenError(.invalidSignature, "none of the server's keys made the signature")
    }
    let token = try Token(try unverified.claims(), keyID: unverified.keyID, rules: rules)
    try rules.check(token)
    return token
  }

  /// Whether a key made the signature of a token. Throws if none is for its algorithm and key id.
  private nonisolated func isSigned(_ token: UnverifiedToken) async throws(TokenError) -> Bool {
    let keys = await keySet
    do throws(TokenError) {
      let candidates = try keys.candidates(for: token)
      if candidates.contains(where: token.isSigned) { return true }
      // Keys without an id may be others than the one that the token names.
      let isKnown = candidates.contains { $0.id == token.keyID }
      guard !isKnown, await refresh(for: token) else { return false }
    } catch {
      guard await refresh(for: token) else { throw error }
    }
    return try await keySet.candidates(for: token).contains(where: token.isSigned)
  }

  /// Fetches the provider's keys for a token with an unknown key. Only a token of a form that the
  /// provider makes is a reason for a request.
  private nonisolated func refresh(for token: UnverifiedToken) async -> Bool {
    guard token.keyID != nil, ["RS256", "ES256", "EdDSA"].contains(token.algorithm) else {
      return false
    }
    return await refreshForUnknownKey()
  }

  /// A hash of the keys that are in force, which does not reveal them: 16 hex digits.
  public var hash: String { keySet.hash }

  /// Reads all files now, fetches the provider's keys, and applies what is valid. Logs the result
  /// for each.
  public func reload() async -> [FileReload] {
    var reloads: [FileReload] = []
    for (index, file) in files.enumerated() {
      var watchedFile = file.watchedFile
      let content = Result { () throws(FileError) in try watchedFile.read() }
      reloads.append(applyChange(content, of: index))
    }
    if let reload = await refresh() { reloads.append(reload) }
    return reloads
  }

  /// Returns the result of each change of keys from now on, including those of ``reload()``. A stream
  /// keeps at most 64 results that are not yet read.
  public func reloads() -> AsyncStream<FileReload> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: FileReload.self, bufferingPolicy: .bufferingNewest(64))
    lastReloadStream += 1
    let number = lastReloadStream
    reloadStreams[number] = continuation
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { await self.removeReloadStream(number) }
    }
    return stream
  }

  private func removeReloadStream(_ number: Int) { reloadStreams[number] = nil }

  /// Reports a change of keys to the streams. Returns it.
  func report(_ reload: FileReload) -> FileReload {
    for stream in reloadStreams.values { stream.yield(reload) }
    return reload
  }

  /// Polls the files once a second, fetches the provider's keys every ten minutes, and applies
  /// changed keys, until a graceful shutdown or the cancellation of the task. If a file is invalid
  /// or missing, or the provider is unavailable, the keys stay unchanged.
  public nonisolated func run() async {
    await cancelWhenGracefulShutdown {
      await self.watch { try await Task.sleep(for: $0) }
    }
  }

  /// - Parameter pause: waits between two polls of a file, see ``WatchedFile``, and between two
  ///   requests for the provider's keys.
  nonisolated func watch(pause: @escaping @Sendable (Duration) async throws -> Void) async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.refreshRepeatedly(pause: pause) }
      for (index, file) in zip(files.indices, watchedFiles) {
        group.addTask {
          var file = file
          await file.watch(pause: pause) { _ = await self.applyChange($0, of: index) }
        }
      }
    }
  }

  private func applyChange(
    _ content: WatchedFile.FileReadResult, of index: Int
  ) -> FileReload {
    let file = files[index]
    do throws(FileError) {
      let keys = try file.keys(in: try content.get())
      try keySet.replace(index, with: keys, of: file.path)
      logger?.info("token keys changed", metadata: ["file": "\(file.path)"])
      return report(FileReload(.keys, path: file.path))
    } catch {
      rejections += 1
      logger?.warning(
        "token keys not changed: their file is invalid",
        metadata: ["file": "\(file.path)", "reason": "\(error.reason)"])
      return report(FileReload(.keys, path: file.path, rejection: error.reason))
    }
  }
}
