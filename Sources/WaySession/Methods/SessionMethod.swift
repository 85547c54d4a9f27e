import WayRPC
import WayValues

/// A method of the protocol: its parameters, its access, and its handler.
package final class SessionMethod: Sendable {
  /// Performs a request in a session and responds through the handle. A thrown error is the
  /// response.
  typealias MethodHandler =
    @Sendable (isolated Session, Params, ReplyHandle) throws(CallError) -> CallDisposition

  /// The clients that may call a method.
  enum Access {
    /// Every client, also before a session is open.
    case anyone
    /// Clients of a session.
    case client
    /// The connection itself handles the method, outside of a session.
    case connection
    /// Clients that the policy makes administrators.
    case admin
  }

  /// How the audit trail records the requests of a method.
  enum AuditedKind {
    /// The method changes the server, its policy, its table or its clients: each request has a
    /// record. The records of a method that not only administrators may call are limited.
    case change
    /// The method changes nothing, and programs may call it periodically: see ``AuditedReads``.
    case read
  }

  package let name: String
  let access: Access
  /// How the policy authorizes the method.
  let kind: MethodKind
  /// How the audit trail records the requests; `nil` if it does not. All administrative methods have
  /// a kind.
  let audit: AuditedKind?
  /// Whether its requests begin in the order in which a client sends them, also after calls that
  /// wait for the store.
  let isOrdered: Bool
  /// The parameters that the method reads by name.
  let paramList: ParamList
  let handler: MethodHandler
  /// Replaces ``handler`` for a method that needs no session and reads its params itself.
  let raw: RawMethod?

  init(
    _ name: String, _ paramList: ParamList = .none, access: Access = .client,
    audit: AuditedKind? = nil, _ handler: @escaping MethodHandler
  ) {
    self.name = name
    self.access = access
    self.audit = audit
    let isTargetDependent =
      name.hasPrefix("host.") || PolicyTopicMethod(rawValue: name) != nil
      || PolicyRouteMethod.allCases.contains { $0.name == name }
    kind = access == .admin ? .admin : isTargetDependent ? .targetDependent : .standard
    isOrdered =
      ["router.", "navigation.", "page."].contains { name.hasPrefix($0) }
      || ["events.publish", "session.setGate"].contains(name)
    self.paramList = paramList
    self.handler = handler
    raw = nil
  }

  init(_ name: String, access: Access, raw: @escaping RawMethod) {
    self.name = name
    self.access = access
    audit = nil
    kind = .standard
    isOrdered = false
    self.raw = raw
    paramList = .none
    handler = { _, _, _ throws(CallError) in .value(try raw(nil)) }
  }
}

/// A method whose response is made at once from its params, without a session.
package typealias RawMethod = @Sendable (Value?) throws(CallError) -> Value

/// A notification of the protocol that has a meaning of its own. It is not a method that is called
/// without a response.
struct ProtocolNotification: Sendable {
  let name: String
  let paramList: ParamList
  /// Handles the notification. Errors are not reported.
  let handler: @Sendable (isolated Session, Client, Params) -> Void
}
