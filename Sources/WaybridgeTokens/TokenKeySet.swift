import Waybridge

/// The keys of all files.
struct TokenKeySet: Sendable {
  /// The most keys: each may be tried for a token that names none.
  private static let maxKeys = 32

  /// For each file its keys.
  private var keys: [[TokenKey]]

  init(files: Int) {
    keys = Array(repeating: [], count: files)
  }

  /// Takes the keys of a file in the place of those that it had; throws, and changes nothing, where
  /// they do not go with the others.
  mutating func replace(
    _ index: Int, with new: [TokenKey], of path: String
  ) throws(FileFault) {
    var changed = keys
    changed[index] = new
    let all = changed.flatMap(\.self)
    guard all.count <= Self.maxKeys else {
      throw FileFault(
        path: path, reason: "makes more than \(Self.maxKeys) keys, with those of other files")
    }
    let named = all.filter { $0.id != nil }
    guard Set(named.map { [$0.algorithmName, $0.id] }).count == named.count else {
      throw FileFault(path: path, reason: "holds a key with a name (kid) that another one has")
    }
    keys = changed
  }

  /// The keys that may have signed a token: those for its algorithm, of its name, or without a
  /// name where none has it; never another's in the place of the named one.
  func candidates(for token: UnverifiedToken) throws(TokenError) -> [TokenKey] {
    let all = keys.flatMap(\.self)
    let fitting = all.filter { $0.algorithmName == token.algorithm }
    guard !fitting.isEmpty else {
      let names = Set(all.map(\.algorithmName)).sorted().joined(separator: " or ")
      guard !names.isEmpty else { throw TokenError(.algorithm, "there is no key to check it with") }
      throw TokenError(.algorithm, "the header's `alg` must be \(names), as the keys here are")
    }
    guard let id = token.keyID else { return fitting }
    let named = fitting.filter { $0.id == id }
    guard named.isEmpty else { return named }
    let nameless = fitting.filter { $0.id == nil }
    guard !nameless.isEmpty else {
      throw TokenError(.unknownKey, "the header's `kid` names no key that is here")
    }
    return nameless
  }
}
