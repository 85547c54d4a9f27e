import WayRouting
import WayTransport
import WayValues

/// A client that uses blobs, with what it may do.
package struct BlobClient: Codable, Sendable, Hashable {
  /// Its session.
  package let session: String
  /// Its name.
  package let client: String
  /// Whether it may also remove blobs that other clients of the session have uploaded.
  package let mayRemoveAll: Bool
  /// The sessions of blobs of other sessions that it may fetch, by the ids of the blobs.
  private let granted: [String: String]

  package init(
    session: String, client: String, mayRemoveAll: Bool = false, granted: [String: String] = [:]
  ) {
    self.session = session
    self.client = client
    self.mayRemoveAll = mayRemoveAll
    self.granted = granted
  }

  /// A client of the session of a blob of another session that this client may fetch; nil if it may
  /// not.
  package func reader(of id: String) -> BlobClient? {
    granted[id].map { BlobClient(session: $0, client: "") }
  }
}

/// The tokens with which clients of sessions use `/blobs` over HTTP. A token lasts as long as its
/// client, and has the client's rights as they are at each request. In a cluster, a token names its
/// session, so that every server finds the one that knows it. Usable from any thread.
package final class BlobTokens: Sendable {
  /// What clients learn about blobs with their token.
  package struct BlobTerms: Encodable, Sendable {
    let token: String
    let maxBlob: Int
    let maxBlobs: Int
    let maxBlobBytes: Int
    let blobExpiryMs: Int64
    let uploadExpiryMs: Int64
  }

  private struct BlobTokenHolder: Sendable {
    let session: String
    let client: String
    /// A copy that follows the changes of the client's rights.
    let rights: Rights
  }

  private struct BlobTokenState {
    var holders: [String: BlobTokenHolder] = [:]
    /// The token of each client.
    var tokens: [String: String] = [:]
  }

  /// The method that a client needs for its requests.
  static let method = "blobs.authorize"
  /// The permission to remove the blobs of other clients, which a rule of the policy has to allow.
  static let removal = "blobs.remove"

  private let limits: Limits
  /// Whether tokens name their sessions.
  private let isInCluster: Bool
  private let state = Locked(BlobTokenState())
  /// The blobs of other sessions that clients may fetch.
  let grants = BlobGrants()
  /// The store, as handlers of the app use it.
  private let source = Locked<(any CallBlobSource)?>(nil)
  /// Removes the blobs of a session that has ended. Called on its loop.
  private let sessionEnded: @Sendable (String) -> Void
  /// Called when a token is void, with the name of its client.
  private let tokenVoided: @Sendable (String) -> Void

  package init(
    limits: Limits, isInCluster: Bool = false,
    tokenVoided: @escaping @Sendable (String) -> Void = { _ in },
    sessionEnded: @escaping @Sendable (String) -> Void
  ) {
    self.limits = limits
    self.isInCluster = isInCluster
    self.tokenVoided = tokenVoided
    self.sessionEnded = sessionEnded
  }

  /// The store, as handlers of the app use it; nil before it is set.
  package var callSource: (any CallBlobSource)? {
    get { source.withLock { $0 } }
    set { source.withLock { $0 = newValue } }
  }

  /// Returns the token of a client, the same each time, and the limits of blobs. Called on the loop of
  /// the session.
  func terms(for client: String, of session: String, _ rights: Rights) -> BlobTerms {
    let holder = BlobTokenHolder(session: session, client: client, rights: rights.followingCopy)
    let token = state.withLock { state in
      if let known = state.tokens[client] { return known }
      let token =
        SessionSecret.random() + (isInCluster ? "." + Self.coding.encoded(session) : "")
      state.tokens[client] = token
      state.holders[token] = holder
      return token
    }
    return BlobTerms(
      token: token, maxBlob: limits.maxBlob, maxBlobs: limits.maxBlobs,
      maxBlobBytes: limits.maxBlobBytes, blobExpiryMs: limits.blobExpiry.milliseconds,
      uploadExpiryMs: limits.uploadExpiry.milliseconds)
  }

  /// The app, which reads and saves blobs of a session. No client has its name.
  package func app(in session: String) -> BlobClient {
    BlobClient(
      session: session, client: "app", mayRemoveAll: true,
      granted: grants.sessions(for: "app", of: session))
  }

  /// Removes the blobs of a session that has ended. Called on its loop.
  func endSession(_ session: String) {
    grants.forget(session: session)
    sessionEnded(session)
  }

  /// Voids the token of a client that has left.
  func remove(_ client: String) {
    let isVoid = state.withLock { state in
      guard let token = state.tokens.removeValue(forKey: client) else { return false }
      state.holders[token] = nil
      return true
    }
    if isVoid { tokenVoided(client) }
  }

  // Tokens of HTTP have no percent signs.
  private static let coding = StoredRecordPercentCoding(
    mark: "~", keeping: "-_", isUppercase: false)

  /// The session that a token of a cluster names, if this server does not know the token.
  func remoteSession(of token: String) -> String? {
    guard isInCluster, state.withLock({ $0.holders[token] }) == nil,
      let dot = token.utf8.firstIndex(of: UInt8(ascii: "."))
    else { return nil }
    return Self.coding.decodedText(of: token[dot...].dropFirst())
  }

  /// The number of tokens.
  package var count: Int { state.withLock { $0.tokens.count } }

  /// Returns the client with a token. Fails with 2401 for another token, and with 2403 if the client
  /// has no right to use blobs. `rules` are those of the loop that calls it, and `now` is in
  /// milliseconds since 1970-01-01 UTC.
  func client(
    of token: String, _ rules: PolicySource, at now: Int64
  ) throws(CallError) -> BlobClient {
    guard let holder = state.withLock({ $0.holders[token] }) else {
      throw CallError(
        .notAuthenticated, "The token is not valid; get one with the method \(Self.method)")
    }
    let rights = holder.rights.transferred(to: rules)
    try rights.checkValidity(at: now)
    try rights.authorize(Self.method)
    var mayRemoveAll = true
    do throws(CallError) { try rights.authorize(Self.removal, .admin) } catch {
      mayRemoveAll = false
    }
    return BlobClient(
      session: holder.session, client: holder.client, mayRemoveAll: mayRemoveAll,
      granted: grants.sessions(for: holder.client, of: holder.session))
  }
}
