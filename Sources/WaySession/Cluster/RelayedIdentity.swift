import WayRouting
import WayValues

/// The result of the authentication of a client, by the server that has its connection.
struct RelayedIdentity: Sendable {
  /// What the client's messages contain instead of the token; nil for a client without a token.
  let reference: String?
  let result: Result<Identity, CallError>

  /// Whether the token was rejected. A token that could not be verified is not.
  var isRejected: Bool {
    guard case .failure(let error) = result else { return false }
    return error.protocolCode == .notAuthenticated
  }

  /// The form for another server.
  var value: Value {
    var members: ValueObject = [:]
    members["token"] = reference.map(Value.string)
    switch result {
    case .success(let identity):
      members["identity"] = RecordCoder.value(of: IdentityRecord(identity))
    case .failure(let error): members["error"] = error.value
    }
    return .object(members)
  }

  init(reference: String?, _ result: Result<Identity, CallError>) {
    self.reference = reference
    self.result = result
  }

  /// Decodes a ``value``.
  init(_ value: Value) throws(ByteDecodingError) {
    reference = value["token"]?.string
    if let error = value["error"] {
      result = .failure(CallError(peerValue: error))
      return
    }
    do throws(RecordDecodingError) {
      let record = try RecordCoder.decode(IdentityRecord.self, from: value["identity"], "identity")
      result = .success(record.identity)
    } catch {
      throw ByteDecodingError("it contains an invalid identity: \(error)")
    }
  }
}

/// The identities that another server has verified for a client, by the references of their tokens.
/// The last ones count, so that a client cannot make them grow.
struct RelayedIdentities {
  /// How many identities are kept: those of the requests that wait.
  static let maxCount = 8

  private var identities: [RelayedIdentity] = []

  mutating func add(_ identity: RelayedIdentity) {
    identities.removeAll { $0.reference == identity.reference }
    identities.append(identity)
    if identities.count > Self.maxCount { identities.removeFirst() }
  }

  /// Returns the identity for a reference; nil stands for no token. Throws the error with which the
  /// token was rejected, and 2401 if the other server has sent none, or if the identity has expired
  /// by `now`, in milliseconds since 1970-01-01 UTC: a reference may be used again on its connection.
  func identity(for reference: String?, at now: Int64) throws(CallError) -> Identity {
    guard let found = identities.last(where: { $0.reference == reference }) else {
      throw CallError(
        .notAuthenticated, "The server that has the connection has not verified the token")
    }
    let identity = try found.result.get()
    if let expires = identity.expires, expires <= now {
      throw CallError(.notAuthenticated, "The token has expired")
    }
    return identity
  }
}
