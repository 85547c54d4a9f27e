import WayRPC
import WayValues

/// A method of the protocol: what it takes, who may call it, and what it does.
package final class Method: Sendable {
  /// Carries out a request in a session, and answers to the address; what it throws is the answer.
  typealias Handler =
    @Sendable (isolated Session, Params, ReplyHandle) throws(CallError) -> Reply

  /// Who may call it.
  enum Access {
    /// Everybody, also before a session is open.
    case everybody
    /// Members of a session.
    case member
    /// The connection itself takes it, outside of a session.
    case connection
    /// Members whom the policy makes administrators.
    case admin
  }

  package let name: String
  let access: Access
  /// As the policy is asked about it.
  let kind: MethodKind
  /// The parameters that it reads by name.
  let takes: ParamList
  let handler: Handler
  /// In the place of ``handler`` for a method that needs no session and reads its params itself.
  let raw: RawMethod?

  init(
    _ name: String, _ takes: ParamList = .none, access: Access = .member,
    _ handler: @escaping Handler
  ) {
    self.name = name
    self.access = access
    let isAskedAgain = name.hasPrefix("host.") || RouteMethod.allCases.contains { $0.name == name }
    kind = access == .admin ? .admin : isAskedAgain ? .askedAgain : .usual
    self.takes = takes
    self.handler = handler
    raw = nil
  }

  init(_ name: String, access: Access, raw: @escaping RawMethod) {
    self.name = name
    self.access = access
    kind = .usual
    self.raw = raw
    takes = .none
    handler = { _, _, _ throws(CallError) in .value(try raw(nil)) }
  }
}

/// A method that is answered at once from its params, without a session.
package typealias RawMethod = @Sendable (Value?) throws(CallError) -> Value

/// A notification of the protocol's that means something of itself, and is no method without an
/// answer.
struct Notice: Sendable {
  let name: String
  let takes: ParamList
  /// Carries it out; nobody is told of a fault.
  let handler: @Sendable (isolated Session, Client, Params) -> Void
}
