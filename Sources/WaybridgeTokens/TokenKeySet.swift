import Waybridge

/// The keys of all files and of a provider.
struct TokenKeySet: Sendable {
  /// The largest number of keys in all files: each may be tried for a token without a key id. A
  /// provider has at most ``JSONWebKeySet/maxKeys`` in addition.
  private static let maxKeys = 32

  private let files: Int
  /// The keys of each file, and then those of the provider.
  private var keys: [[TokenKey]]

  init(files: Int) {
    self.files = files
    keys = Array(repeating: [], count: files + 1)
  }

  /// Replaces the keys of the provider. Throws, with nothing changed, if they conflict with the
  /// other keys or with each other.
  mutating func replaceProviderKeys(_ newKeys: [TokenKey], of url: String) throws(FileError) {
    try replace(files, with: newKeys, of: url)
  }

  /// Replaces the keys of a file. Throws, with nothing changed, if they conflict with the other
  /// keys.
  mutating func replace(
    _ index: Int, with newKeys: [TokenKey], of path: String
  ) throws(FileError) {
    var changed = keys
    changed[index] = newKeys
    let all = changed.flatMap(\.self)
    guard changed[..<files].joined().count <= Self.maxKeys else {
      throw FileError(
        path: path, reason: "exceeds the limit of \(Self.maxKeys) keys in all files")
    }
    let withID = all.filter { $0.id != nil }
    guard Set(withID.map { [$0.algorithmName, $0.id] }).count == withID.count else {
      throw FileError(path: path, reason: "holds a key with the same name (kid) as another key")
    }
    keys = changed
  }

  /// A hash of all keys and their ids.
  var hash: String {
    var hash = StableHash()
    for key in keys.flatMap(\.self) {
      hash.add(key.algorithmName)
      hash.add(key.id ?? "")
      for byte in key.fingerprint { hash.add(byte) }
    }
    return hash.hexString
  }

  /// Returns the keys that may have signed a token: those for its algorithm with its key id,
  /// otherwise those without an id. For a token without a key id, all keys for its algorithm.
  func candidates(for token: UnverifiedToken) throws(TokenError) -> [TokenKey] {
    let all = keys.flatMap(\.self)
    let matching = all.filter { $0.algorithmName == token.algorithm }
    guard !matching.isEmpty else {
      let names = Set(all.map(\.algorithmName)).sorted().joined(separator: " or ")
      guard !names.isEmpty else {
        throw TokenError(.unsupportedAlgorithm, "the server has no key to verify the token")
      }
      throw TokenError(
        .unsupportedAlgorithm, "the header's `alg` must be \(names), like the server's keys")
    }
    guard let id = token.keyID else { return matching }
    let withID = matching.filter { $0.id == id }
    guard withID.isEmpty else { return withID }
    let withoutID = matching.filter { $0.id == nil }
    guard !withoutID.isEmpty else {
      throw TokenError(.unknownKey, "the header's `kid` names none of the server's keys")
    }
    return withoutID
  }
}
