import WayRPC
import Waybridge

/// The document with the keys of an identity provider (JWK Set, RFC 7517 §5).
struct JSONWebKeySet: Sendable {
  /// The largest size of a document in bytes.
  static let maxSize = 256 << 10
  /// The largest number of keys, also of those that are not used.
  static let maxKeys = 64
  private static let maxDepth = 16

  /// The keys that can verify tokens, at least one.
  let keys: [TokenKey]
  /// The reason for each key that is not used, with its position from 0. Contains nothing of the key.
  let faults: [String]

  /// Reads a document. The reason of an error is the end of a sentence that begins with the
  /// document's name.
  init(_ bytes: [UInt8]) throws(JSONWebKeyError) {
    let document = try? JSON.parse(
      bytes.span.bytes, maxDepth: Self.maxDepth, duplicateNames: .reject)
    guard let entries = document?.object?["keys"]?.array else {
      throw JSONWebKeyError("is not a JSON object with an array `keys`, without duplicate names")
    }
    guard entries.count <= Self.maxKeys else {
      throw JSONWebKeyError("holds \(entries.count) keys; at most \(Self.maxKeys) are allowed")
    }
    var keys: [TokenKey] = []
    var faults: [String] = []
    for (index, entry) in entries.enumerated() {
      do throws(JSONWebKeyError) {
        guard let members = entry.object else { throw JSONWebKeyError("is not an object") }
        keys.append(try JSONWebKey(members).tokenKey())
      } catch {
        faults.append("key \(index) \(error.reason)")
      }
    }
    guard !keys.isEmpty else {
      let detail = faults.first.map { ": \($0)" } ?? ""
      throw JSONWebKeyError("holds no public key for RS256, ES256 or EdDSA\(detail)")
    }
    self.keys = keys
    self.faults = faults
  }
}
