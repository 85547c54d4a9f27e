import WayPatterns
import WayValues

/// An action of a client, of the app or of the server's operator that matters for security: an
/// administrative action, or a refusal. Contains no tokens, no params and no queries of URIs.
///
/// Changes by administrators always have a record. The number of records of refusals and of requests
/// that change nothing is limited, see ``AuditResult/suppressed(count:rule:)``.
public struct AuditRecord: Sendable, Hashable {
  /// The result of an action.
  public enum AuditResult: Sendable, Hashable {
    /// The action was carried out.
    case done
    /// The action was carried out at this server, and has failed at these other servers of the
    /// cluster, or is not known to have been carried out there. The list is empty if the change
    /// could not be shared with any server.
    case incomplete(failedServers: [String])
    /// The action has failed, with this error code if a client requested it.
    case failed(code: Int?)
    /// The client was refused. `code` is that of the error, of the close frame or of the HTTP
    /// response. `rule` is the name of the rule that refused it, as in `data.rule` of the error, or
    /// the access check that did.
    case refused(code: Int, rule: String?, reason: String)
    /// A number of actions that have no records: refusals beyond ten in a second of a client, a
    /// method and a `rule`, or beyond the limits of a client or of all; or requests in an hour that
    /// change nothing. The record has only the fields that these actions have in common; the address
    /// of an IPv6 client is its network.
    case suppressed(count: Int, rule: String?)
  }

  /// The action of every refusal.
  public static let refusal = "refuse"

  /// The maximum length of a target or a method that a client has chosen, in UTF-8 bytes.
  static let maxTextBytes = 1024

  /// The client that has acted or was refused; `nil` for the app's own code and for files.
  public var client: EventClient?
  /// The action: a method such as `session.push`, `policy.reload`, `keys.reload`, `table.reload`,
  /// `secrets.reload` or ``refusal``.
  public var action: String
  /// The method that was refused, or that was pushed.
  public var method: String?
  /// What the action is about, such as a URI without its query, a session, an audience or a file.
  public var target: String?
  /// The result.
  public var result: AuditResult
  /// What caused an action without a client: `file`, `fetch`, `code` for the app's own code, and
  /// `cluster` for another server, which names the client if one has caused it.
  public var cause: String?
  /// The version of the table, or the hash of the policy, that is now in force.
  public var version: String?
  /// The number of sessions, or clients, that a push is for.
  public var sessionCount: Int?
  /// The ids of the clients that were removed.
  public var removedClients: [String] = []
  /// The groups that an invitation passes on.
  public var grantedGroups: [String] = []

  /// Creates a record.
  public init(
    client: EventClient? = nil, action: String, method: String? = nil, target: String? = nil,
    result: AuditResult = .done, cause: String? = nil, version: String? = nil
  ) {
    self.client = client
    self.action = action
    self.method = method
    self.target = target
    self.result = result
    self.cause = cause
    self.version = version
  }

  /// Creates the record of a request that was refused with an error.
  package init(refusing method: String?, with error: CallError, by client: EventClient?) {
    self.init(
      client: client, action: Self.refusal, method: method?.bounded(to: Self.maxTextBytes),
      result: .refused(
        code: error.code, rule: error.data?["rule"]?.string, reason: error.message))
  }

  /// The target of an action that is about a URI, a page or a client.
  static func target(of text: String) -> String {
    RouteURI.logForm(of: text.bounded(to: maxTextBytes))
  }
}

extension CallError {
  /// Whether the error refuses a client that may not make the call, or is not authenticated.
  package var isRefusal: Bool {
    code == ErrorCode.forbidden.rawValue || code == ErrorCode.notAuthenticated.rawValue
  }
}
