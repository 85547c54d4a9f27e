import Logging
import ServiceLifecycle
import Waybridge

/// Keys that verify tokens, from files that are read again when they change.
///
/// ```swift
/// let keys = try await TokenKeys.load(keyFile: "/etc/shop/tokens.pem")
/// let token = try await keys.verify("eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl")
/// print(token.subject, token.groups)
/// ```
///
/// It is a `Service` of swift-service-lifecycle: the files are watched while ``run()`` runs.
public actor TokenKeys: Service, ReloadableKeys {
  private let files: [TokenKeyFile]
  private let rules: TokenRules
  private let logger: Logger?
  private let watchedFiles: [WatchedFile]
  private var keySet: TokenKeySet
  /// How often the content of a file was rejected.
  public private(set) var rejections = 0

  /// Reads a secret for HS256, public keys for EdDSA, or both. Throws ``TokenKeyError``.
  ///
  /// - Parameters:
  ///   - secretFile: see ``TokenKeyFile/secret(_:id:)``.
  ///   - keyFile: see ``TokenKeyFile/publicKeys(_:)``.
  ///   - rules: requirements on tokens in addition to a signature.
  ///   - logger: logs each change of a file: `info` if its keys were applied, `warning` with the
  ///     reason if they were not; never the file's content.
  public static func load(
    secretFile: String? = nil, keyFile: String? = nil, rules: TokenRules = TokenRules(),
    logger: Logger? = nil
  ) async throws(TokenKeyError) -> TokenKeys {
    var files: [TokenKeyFile] = []
    if let secretFile { files.append(.secret(secretFile)) }
    if let keyFile { files.append(.publicKeys(keyFile)) }
    return try await load(files, rules: rules, logger: logger)
  }

  /// Reads several files, at most 32 keys together. Keys of one algorithm need different ids, or
  /// none. Without files every token is rejected. Throws ``TokenKeyError``.
  public static func load(
    _ files: [TokenKeyFile], rules: TokenRules = TokenRules(), logger: Logger? = nil
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
    return TokenKeys(
      files: files, rules: rules, logger: logger, watchedFiles: watchedFiles, keySet: keySet)
  }

  private init(
    files: [TokenKeyFile], rules: TokenRules, logger: Logger?, watchedFiles: [WatchedFile],
    keySet: TokenKeySet
  ) {
    self.files = files
    self.rules = rules
    self.logger = logger
    self.watchedFiles = watchedFiles
    self.keySet = keySet
  }

  /// Verifies a token's signature and claims. Throws ``TokenError``.
  ///
  /// Accepts tokens of at most 8 KiB, signed with HS256 or EdDSA by one of these keys. Their `sub`
  /// must be a string and their `aud` must contain ``TokenRules/audience``. They are valid from
  /// their `nbf` until their `exp`. May be called from any thread, and does not wait for files.
  public nonisolated func verify(_ token: String) async throws(TokenError) -> Token {
    let unverified = try UnverifiedToken(token)
    let keySet = await keySet
    let candidates = try keySet.candidates(for: unverified)
    guard
      candidates.contains(where: { $0.verifies(unverified.signature, of: unverified.signedBytes) })
    else { throw TokenError(.invalidSignature, "none of the server's keys made the signature") }
    let token = try Token(try unverified.claims(), keyID: unverified.keyID, rules: rules)
    try rules.check(token)
    return token
  }

  /// A hash of the keys that are in force, which does not reveal them: 16 hex digits.
  public var hash: String { keySet.hash }

  /// Reads all files now, and applies those that are valid. Logs the result for each.
  public func reload() async -> [FileReload] {
    var reloads: [FileReload] = []
    for (index, file) in files.enumerated() {
      var watchedFile = file.watchedFile
      let content = Result { () throws(FileError) in try watchedFile.read() }
      reloads.append(applyChange(content, of: index))
    }
    return reloads
  }

  /// Polls the files once a second, and applies the keys of a changed file, until a graceful
  /// shutdown or the cancellation of the task. If a file is invalid or missing, the keys stay
  /// unchanged.
  public nonisolated func run() async {
    await cancelWhenGracefulShutdown {
      await self.watch { try await Task.sleep(for: $0) }
    }
  }

  /// - Parameter pause: waits between two polls of a file, see ``WatchedFile``.
  nonisolated func watch(pause: @escaping @Sendable (Duration) async throws -> Void) async {
    await withDiscardingTaskGroup { group in
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
      return FileReload(.keys, path: file.path)
    } catch {
      rejections += 1
      logger?.warning(
        "token keys not changed: their file is invalid",
        metadata: ["file": "\(file.path)", "reason": "\(error.reason)"])
      return FileReload(.keys, path: file.path, rejection: error.reason)
    }
  }
}
