import WayRPC
import WayValues

/// A session in the result of `admin.sessions`.
struct InspectedSessionSummary: Encodable {
  struct ClientSummary: Encodable {
    let client: String
    let name: String?
    /// `nil` if the client is connected.
    let away: Bool?
  }

  let session: String
  let user: String?
  let groups: [String]?
  let clients: [ClientSummary]
  /// The number of open pages.
  let pages: Int
  /// The number of calls without a response.
  let calls: Int
}

/// A session in the result of `admin.session`.
struct InspectedSession: Encodable {
  let session: String
  let user: String?
  let groups: [String]?
  /// In milliseconds since 1970-01-01 UTC.
  let at: Int64
  let clients: [InspectedClient]
  let stack: Value
  let calls: [InspectedCall]
  /// The number of deep links that wait.
  let links: Int
  /// The last records of the session.
  var records: [Value]?
}

/// A client in the result of `admin.session`.
struct InspectedClient: Encodable {
  let client: String
  let name: String?
  let version: String?
  let platform: String?
  let page: String?
  let user: String?
  let origin: String?
  let address: String?
  /// `nil` if the client is no guest.
  let guest: Bool?
  /// `nil` if the client is no agent.
  let agent: Value?
  /// The milliseconds since it has lost its connection; `nil` if it is connected.
  let away: Value?
  /// The entries of `host.register`.
  let hosts: [Value]
  let topics: Value?
  /// The bytes that the client has not acknowledged.
  let unread: Int
  /// The number of requests that it has not answered.
  let asked: Int
}

/// A call without a response in the result of `admin.session`.
struct InspectedCall: Encodable {
  /// The reason why a call has no response yet.
  enum WaitReason: String, Encodable {
    case nothing, task, client, turn, page, key, gate
  }

  let call: Int
  /// The name of the client; `nil` for a call of Swift code, as `id` and `ms`.
  var client: String?
  /// The id of the request; null for a notification.
  var id: Value?
  let method: String
  var ms: Value?
  let uri: String?
  let key: String?
  var waitsFor = WaitReason.nothing
  /// The client that works on the call.
  var host: String?
  /// The page whose outcome the call waits for.
  var page: String?
}
