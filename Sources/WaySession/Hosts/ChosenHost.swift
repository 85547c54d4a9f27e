import WayNavigation
import WayValues

/// The host that is to serve a call, and by which of its patterns. A class, so that it is handed on
/// as one reference.
final class ChosenHost: Sendable {
  let host: SessionHosts.Host
  /// Nil for the whole scheme.
  let pattern: String?
  /// What the pattern takes from the URI.
  let captures: ValueObject

  init(_ host: SessionHosts.Host, pattern: String?, captures: ValueObject) {
    self.host = host
    self.pattern = pattern
    self.captures = captures
  }

  var client: ClientID { host.client }
  var kind: RouteKind { host.definition.kind }

  /// The parameters of a call with what the pattern takes, save what `known` has.
  func adding(to params: ValueObject, under known: ValueObject) -> ValueObject {
    var params = params
    for member in captures.members where known[member.name] == nil {
      params[member.name] = member.value
    }
    return params
  }

  /// As `page.open` and `task.run` tell it.
  var value: Value {
    var members: [ValueObject.Member] = []
    members.reserveCapacity(3)
    if let scheme = host.definition.scheme {
      members.append(ValueObject.Member(name: "scheme", value: .string(scheme)))
    }
    if let pattern { members.append(ValueObject.Member(name: "pattern", value: .string(pattern))) }
    members.append(ValueObject.Member(name: "kind", value: .string(kind.rawValue)))
    return .object(ValueObject(distinct: members))
  }
}
