import WayRouting
import WayTransport
import WayValues

/// The tokens with which clients of sessions use `/blobs` over HTTP. A token lasts as long as its
/// client, and has the client's rights as they are at each request. Usable from any thread.
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

  private let limits: Limits
  private let state = Locked(BlobTokenState())
  /// Removes the blobs of a session that has ended. Called on its loop.
  let sessionEnded: @Sendable (String) -> Void

  package init(limits: Limits, sessionEnded: @escaping @Sendable (String) -> Void) {
    self.limits = limits
    self.sessionEnded = sessionEnded
  }

  /// Returns the token of a client, the same each time, and the limits of blobs. Called on the loop of
  /// the session.
  func terms(for client: String, of session: String, _ rights: Rights) -> BlobTerms {
    let holder = BlobTokenHolder(session: session, client: client, rights: rights.followingCopy)
    let token = state.withLock { state in
      if let known = state.tokens[client] { return known }
      let token = SessionSecret.random()
      state.tokens[client] = token
      state.holders[token] = holder
      return token
    }
    return BlobTerms(
      token: token, maxBlob: limits.maxBlob, maxBlobs: limits.maxBlobs,
      maxBlobBytes: limits.maxBlobBytes, blobExpiryMs: limits.blobExpiry.milliseconds,
      uploadExpiryMs: limits.uploadExpiry.milliseconds)
  }

  /// Voids the token of a client that has left.
  func remove(_ client: String) {
    state.withLock { state in
      guard let token = state.tokens.removeValue(forKey: client) else { return }
      state.holders[token] = nil
    }
  }

  /// The number of tokens.
  package var count: Int { state.withLock { $0.tokens.count } }

  /// Returns the session whose blobs the client with a token may use. Fails with 2401 for another
  /// token, and with 2403 if the client has no right to use blobs. `rules` are those of the loop that
  /// calls it, and `now` is in milliseconds since 1970-01-01 UTC.
  func session(
    of token: String, _ rules: PolicySource, at now: Int64
  ) throws(CallError) -> String {
    guard let holder = state.withLock({ $0.holders[token] }) else {
      throw CallError(
        .notAuthenticated, "The token is not valid; get one with the method \(Self.method)")
    }
    let rights = holder.rights.transferred(to: rules)
    try rights.checkValidity(at: now)
    try rights.authorize(Self.method)
    return holder.session
  }
}
