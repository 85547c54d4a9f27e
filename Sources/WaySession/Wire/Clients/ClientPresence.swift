import WayValues

/// A client of a session, as the other clients of the session may know it: an entry of the result of
/// `session.clients`, and the data of the event `session.joined`.
package struct ClientPresence: Encodable, Sendable {
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
  /// The agent that the client is; `nil` if it is none.
  let agent: Value?
  /// `nil` if the client has a connection.
  let away: Bool?

  /// The members of the JSON form.
  var members: ValueObject { RecordCoder.value(of: self).object ?? [:] }
}
