import WayRPC
import WayValues

/// A method of the protocol: what it takes, who may call it, and what it does.
package final class Method: Sendable {
  /// A request for a method: what it was given, and where the answer goes.
  struct Request {
    let params: Params
    let address: ReplyAddress
  }

  /// Carries out a request in a session; what it throws is the answer.
  typealias Handler = @Sendable (isolated Session, Request) throws(CallError) -> Reply

  enum Work {
    case session([Param], Handler)
    /// Needs no session, and reads its params itself.
    case raw(RawMethod)
  }

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
  let work: Work

  init(
    _ name: String, _ takes: [Param] = [], access: Access = .member, _ handler: @escaping Handler
  ) {
    self.name = name
    self.access = access
    work = .session(takes, handler)
  }

  init(_ name: String, access: Access, raw: @escaping RawMethod) {
    self.name = name
    self.access = access
    work = .raw(raw)
  }

  /// The parameters that it reads by name.
  var takes: [Param] {
    if case .session(let params, _) = work { params } else { [] }
  }
}

/// A method that is answered at once from its params, without a session.
package typealias RawMethod = @Sendable (Value?) throws(CallError) -> Value

/// A notification of the protocol's that means something of itself, and is no method without an answer.
struct Notice: Sendable {
  let name: String
  let takes: [Param]
  /// Carries it out; nobody is told of a fault.
  let handler: @Sendable (isolated Session, Client, Params) -> Void
}
