import WayRPC
import WayValues

/// Replaces the tokens in the messages of a client whose connection is relayed to the owner of its
/// session, so that the owner receives no token that another program could use.
///
/// A token that authenticates the client is replaced by a reference: this server verifies the token,
/// and sends the identity with the reference (``RelayedIdentity``). A token that the owner has issued
/// is replaced by its digest. Pure: ``RelayPort`` and `Connection` act.
struct RelayedTokens: Sendable {
  /// A message without tokens.
  struct RelayedMessage: Sendable {
    let bytes: [UInt8]
    /// The tokens to verify, in the order of the message: at most ``maxCredentials``.
    let credentials: [TokenReference]
    /// How many further tokens the message has. The owner rejects their references, because it
    /// receives no identity for them.
    let excessCredentials: Int
  }

  /// A token, and what the owner receives instead.
  struct TokenReference: Sendable, Hashable {
    let token: String
    let reference: String
  }

  /// How many tokens of one message are verified: as many as the owner stores identities.
  static let maxCredentials = RelayedIdentities.maxCount
  /// The beginning of the methods with tokens, as JSON.
  private static let mark = Array(#""session."#.utf8)
  private static let backslash = UInt8(ascii: "\\")

  private let digest: PresentedToken.TokenDigest
  private var referenceCount = 0

  init(digest: @escaping PresentedToken.TokenDigest) { self.digest = digest }

  /// Returns a reference for a token.
  mutating func refer(to token: String) -> TokenReference {
    referenceCount += 1
    return TokenReference(token: token, reference: "token-\(referenceCount)")
  }

  /// Whether a message may be a request with a token: it contains the beginning of such a method, or
  /// `\u`. JSON has no other escape for a letter or a dot (RFC 8259 §7). It is one scan, because
  /// each message of the client is checked.
  static func mayContainTokens(_ message: RawSpan) -> Bool {
    message.withUnsafeBytes { bytes in
      let first = mark[0]
      for index in bytes.indices.dropLast() {
        let byte = bytes[index]
        if byte == backslash, bytes[index + 1] == UInt8(ascii: "u") { return true }
        if byte == first, bytes[index + 1] == mark[1], bytes[index...].starts(with: mark) {
          return true
        }
      }
      return false
    }
  }

  /// Returns a message without its tokens; nil if it has none. Messages that are no JSON are left to
  /// the owner, which rejects them.
  mutating func replace(in message: [UInt8]) -> RelayedMessage? {
    guard let value = try? JSON.parse(message.span.bytes, maxDepth: JSON.maxStoredDepth) else {
      return nil
    }
    var found = FoundCredentials()
    let replaced: Value
    if let messages = value.array {
      replaced = .array(messages.map { replaceTokens(in: $0, inBatch: true, &found) })
    } else {
      replaced = replaceTokens(in: value, inBatch: false, &found)
    }
    var writer = JSONWriter()
    guard replaced != value, (try? writer.write(replaced, maxDepth: JSON.maxStoredDepth)) != nil
    else { return nil }
    return RelayedMessage(
      bytes: writer.bytes, credentials: found.credentials, excessCredentials: found.excess)
  }

  /// The tokens of one message that authenticate the client.
  private struct FoundCredentials {
    var credentials: [TokenReference] = []
    var excess = 0

    mutating func add(_ credential: TokenReference) {
      if credentials.count < maxCredentials {
        credentials.append(credential)
      } else {
        excess += 1
      }
    }
  }

  private mutating func replaceTokens(
    in message: Value, inBatch: Bool, _ found: inout FoundCredentials
  ) -> Value {
    guard var members = message.object, let method = members["method"]?.string,
      var params = members["params"]?.object
    else { return message }
    // The owner rejects `session.open` and `session.resume` in a batch, so that their tokens are not
    // verified.
    var rejected = FoundCredentials()
    switch (method, inBatch) {
    case ("session.open", false): replaceOpen(&params, &found)
    case ("session.open", true): replaceOpen(&params, &rejected)
    case ("session.resume", false): replaceResume(&params, &found)
    case ("session.resume", true): replaceResume(&params, &rejected)
    case ("session.renew", _): replaceCredential(&params, &found)
    default: return message
    }
    members["params"] = .object(params)
    return .object(members)
  }

  private mutating func replaceResume(
    _ params: inout ValueObject, _ found: inout FoundCredentials
  ) {
    replaceIssued(&params, in: params["client"]?.string)
    guard var open = params["open"]?.object else { return }
    replaceOpen(&open, &found)
    params["open"] = .object(open)
  }

  private mutating func replaceOpen(
    _ params: inout ValueObject, _ found: inout FoundCredentials
  ) {
    replaceCredential(&params, &found)
    if var join = params["join"]?.object {
      replaceIssued(&join, in: join["session"]?.string)
      params["join"] = .object(join)
    }
  }

  private mutating func replaceCredential(
    _ params: inout ValueObject, _ found: inout FoundCredentials
  ) {
    guard let token = params["token"]?.string else { return }
    let reference = refer(to: token)
    found.add(reference)
    params["token"] = .string(reference.reference)
  }

  private func replaceIssued(_ params: inout ValueObject, in context: String?) {
    guard let token = params["token"]?.string else { return }
    params["token"] = .string(digest(token, context ?? "") ?? "")
  }
}
