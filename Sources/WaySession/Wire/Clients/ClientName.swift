import WayRouting

/// Makes client names that contain the session's name, so that every server can find the session of
/// a client.
enum ClientName {
  private static let prefix = "c-"
  private static let sessionPrefix = "s-"

  /// Returns a name that is unique among all clients, also earlier ones.
  static func make(of session: String) -> String {
    guard session.hasPrefix(sessionPrefix) else { return prefix + SessionSecret.random(12) }
    return prefix + session.dropFirst(sessionPrefix.count) + "." + SessionSecret.random(6)
  }

  /// The session of a client; nil if `name` is not the name of a client.
  static func session(of name: String) -> String? {
    guard name.hasPrefix(prefix), let dot = name.lastIndex(of: ".") else { return nil }
    let session = name.dropFirst(prefix.count)[..<dot]
    return session.isEmpty ? nil : sessionPrefix + session
  }
}

extension Caller {
  /// The session of the client. A caller from before a restart may be in another session than the one
  /// that has stored it.
  var clientSession: String { client.flatMap { ClientName.session(of: $0.id) } ?? session }
}
