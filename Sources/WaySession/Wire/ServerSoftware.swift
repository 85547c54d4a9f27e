/// What the server says of itself.
package enum ServerSoftware {
  static let name = "waybridge"
  package static let version = "0.1.0"
  /// The version of the protocol that is spoken.
  static let protocolVersion = "1.0"
}
