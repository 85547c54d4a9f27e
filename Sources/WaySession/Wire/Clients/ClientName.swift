/// How clients are named: by their session, so that every server can tell whose one is.
enum ClientName {
  private static let prefix = "c-"
  private static let sessionPrefix = "s-"

  /// A name that no other client has had.
  static func make(of session: String) -> String {
    guard session.hasPrefix(sessionPrefix) else { return prefix + Token.random(12) }
    return prefix + session.dropFirst(sessionPrefix.count) + "." + Token.random(6)
  }

  /// The session of a client; nil for what is no name of one.
  static func session(of name: String) -> String? {
    guard name.hasPrefix(prefix), let dot = name.lastIndex(of: ".") else { return nil }
    let session = name.dropFirst(prefix.count)[..<dot]
    return session.isEmpty ? nil : sessionPrefix + session
  }
}
