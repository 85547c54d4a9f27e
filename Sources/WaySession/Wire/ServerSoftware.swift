/// The server's description of itself.
package enum ServerSoftware {
  static let name = "waybridge"
  package static let version = "0.1.0"
  /// The version of the protocol that the server supports.
  static let protocolVersion = "1.0"
}
