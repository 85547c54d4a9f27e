import WayNavigation
import WayValues

/// The host that is to serve a call, and the pattern that matched. A class, so that it is passed as
/// one reference.
final class ChosenHost: Sendable {
  let host: SessionHosts.RegisteredHost
  /// The pattern that matched; `nil` for a host of the whole scheme.
  let pattern: String?
  /// The values that the pattern captures from the URI.
  let captures: ValueObject

  init(_ host: SessionHosts.RegisteredHost, pattern: String?, captures: ValueObject) {
    self.host = host
    self.pattern = pattern
    self.captures = captures
  }

  var client: ClientID { host.client }
  var kind: RouteKind { host.kind }

  /// Returns the parameters of a call with the captures, except those that `known` has.
  func adding(to params: ValueObject, under known: ValueObject) -> ValueObject {
    var params = params
    for member in captures.members where known[member.name] == nil {
      params[member.name] = member.value
    }
    return params
  }

  /// The value of `host` in `page.open` and `task.run`.
  var value: Value {
    var members: [ValueObject.ObjectMember] = []
    members.reserveCapacity(3)
    if let scheme = host.definition.scheme {
      members.append(ValueObject.ObjectMember(name: "scheme", value: .string(scheme)))
    }
    if let pattern {
      members.append(ValueObject.ObjectMember(name: "pattern", value: .string(pattern)))
    }
    members.append(ValueObject.ObjectMember(name: "kind", value: .string(kind.rawValue)))
    return .object(ValueObject(distinct: members))
  }
}
