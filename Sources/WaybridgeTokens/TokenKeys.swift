import Logging
import ServiceLifecycle
import Waybridge

/// Keys that tokens are checked with, from files that are read again when they change.
///
/// ```swift
/// let keys = try await TokenKeys.load(keyFile: "/etc/shop/tokens.pem")
/// let token = try await keys.verify("eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl")
/// print(token.subject, token.groups)
/// ```
///
/// It is a `Service` of swift-service-lifecycle: the files are watched while ``run()`` runs.
public actor TokenKeys: Service {
  private let files: [TokenKeyFile]
  private let rules: TokenRules
  private let logger: Logger?
  private let watched: [WatchedFile]
  private var ring: TokenKeySet

  /// Reads a secret for HS256, public keys for EdDSA, or both. Throws ``TokenKeyError``.
  ///
  /// - Parameters:
  ///   - secretFile: see ``TokenKeyFile/secret(_:id:)``.
  ///   - keyFile: see ``TokenKeyFile/publicKeys(_:)``.
  ///   - rules: what is asked of tokens beside a signature.
  ///   - logger: is told of each change of a file: `info` where its keys were taken, `warning` with
  ///     the reason where they were not; never what the file holds.
  public static func load(
    secretFile: String? = nil, keyFile: String? = nil, rules: TokenRules = TokenRules(),
    logger: Logger? = nil
  ) async throws(TokenKeyError) -> TokenKeys {
    var files: [TokenKeyFile] = []
    if let secretFile { files.append(.secret(secretFile)) }
    if let keyFile { files.append(.publicKeys(keyFile)) }
    return try await load(files, rules: rules, logger: logger)
  }

  /// Reads several files, at most 32 keys together, each with a name of its own for its algorithm,
  /// or without one. Without files every token is refused. Throws ``TokenKeyError``.
  public static func load(
    _ files: [TokenKeyFile], rules: TokenRules = TokenRules(), logger: Logger? = nil
  ) async throws(TokenKeyError) -> TokenKeys {
    var watched: [WatchedFile] = []
    var ring = TokenKeySet(files: files.count)
    for (index, file) in files.enumerated() {
      var looker = file.watched
      do throws(FileFault) {
        let keys = try file.keys(in: try looker.read())
        try ring.replace(index, with: keys, of: file.path)
      } catch {
        throw TokenKeyError(error, in: file)
      }
      watched.append(looker)
    }
    return TokenKeys(files: files, rules: rules, logger: logger, watched: watched, ring: ring)
  }

  private init(
    files: [TokenKeyFile], rules: TokenRules, logger: Logger?, watched: [WatchedFile],
    ring: TokenKeySet
  ) {
    self.files = files
    self.rules = rules
    self.logger = logger
    self.watched = watched
    self.ring = ring
  }

  /// Checks a token's signature and claims. Throws ``TokenError``.
  ///
  /// Taken are tokens of at most 8 KiB, signed with HS256 or EdDSA by a key that is here, whose
  /// `sub` is a text and whose `aud` names ``TokenRules/audience``, after their `nbf` and before
  /// their `exp`. May be called from anywhere, and does not wait for files.
  public nonisolated func verify(_ token: String) async throws(TokenError) -> Token {
    let unverified = try UnverifiedToken(token)
    let ring = await ring
    let candidates = try ring.candidates(for: unverified)
    guard
      candidates.contains(where: { $0.verifies(unverified.signature, of: unverified.signed) })
    else { throw TokenError(.signature, "the signature is not one of a key that is here") }
    let token = try Token(try unverified.claims(), keyID: unverified.keyID, rules: rules)
    try rules.check(token)
    return token
  }

  /// Looks at the files once a second, and takes the keys of one that has changed, until a graceful
  /// shutdown or the cancellation of the task. A file that is wrong, or gone, leaves the keys as
  /// they are.
  public nonisolated func run() async {
    await cancelWhenGracefulShutdown {
      await self.watch { try await Task.sleep(for: $0) }
    }
  }

  /// - Parameter pause: waits between two looks at a file, see ``WatchedFile``.
  nonisolated func watch(pause: @escaping @Sendable (Duration) async throws -> Void) async {
    await withDiscardingTaskGroup { group in
      for (index, file) in zip(files.indices, watched) {
        group.addTask {
          var file = file
          await file.watch(pause: pause) { await self.take($0, of: index) }
        }
      }
    }
  }

  private func take(_ content: WatchedFile.Content, of index: Int) async {
    let file = files[index]
    do throws(FileFault) {
      let keys = try file.keys(in: try content.get())
      try ring.replace(index, with: keys, of: file.path)
      logger?.info("token keys changed", metadata: ["file": "\(file.path)"])
    } catch {
      logger?.warning(
        "token keys kept, since their file is wrong",
        metadata: ["file": "\(file.path)", "reason": "\(error.reason)"])
    }
  }
}
