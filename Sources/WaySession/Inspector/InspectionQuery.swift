import WayRouting
import WayValues

/// A query about the whole server, from a client that inspects it.
enum InspectionQuery: Sendable {
  /// The sessions in the order of their ids, after a given one.
  case sessions(after: String?, limit: Int)
  /// One session in full; with its recent records if they are wanted.
  case session(String, withRecords: Bool)
  /// The routes, their hosts, and the statistics of their calls.
  case routes
  /// The recently rejected connections and tokens.
  case rejections
  /// The tables and policies that were in force.
  case versions
  /// The servers of this server's cluster.
  case cluster
  /// How a URI resolves for a given caller.
  case explain(uri: String, params: ValueObject, caller: Caller)
}

/// Selects the records that a client receives.
struct InspectorFilter: Sendable {
  /// The only session to report; nil for all.
  var session: String?
  /// The maximum number of bytes of each message to report, as JSON; nil for no messages.
  var maxMessageBytes: Int?
  /// The client's own name. Its own calls are not reported.
  let client: String

  /// Whether a record about a session and one of its clients matches.
  func matches(_ session: String, _ client: String?) -> Bool {
    if let client, client == self.client { return false }
    return self.session.map { $0 == session } ?? true
  }
}
