import WayRouting
import WayValues

/// A client of a session, as the other clients of the session may know it: an entry of the result of
/// `session.clients`, and the data of the event `session.joined`.
package struct PresentClient: Encodable, Sendable {
  /// The method that a client must be allowed to call to know more about the others than their ids.
  static let method = "session.clients"

  /// The id of the client.
  package let client: String
  let name: String?
  package let version: String?
  let platform: String?
  /// The page that the client runs in.
  let page: String?
  /// The user; for a guest that of the client that has invited it.
  let user: String?
  /// `nil` if the client is no guest.
  let guest: Bool?
  /// `nil` if the client has a connection.
  let away: Bool?

  init(_ client: Client) {
    let (caller, software) = (client.rights.caller, client.software)
    self.client = client.name
    name = software.name
    version = software.version
    platform = software.platform
    page = client.page
    user = caller.identity.user
    guest = caller.isGuest ? true : nil
    away = client.isDisconnected ? true : nil
  }

  /// The members of the JSON form.
  var members: ValueObject { RecordCoder.value(of: self).object ?? [:] }
}
