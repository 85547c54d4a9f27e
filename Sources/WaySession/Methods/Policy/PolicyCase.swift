import WayPatterns
import WayRouting
import WayTable
import WayValues

/// Who asks a policy, or a table, told by hand: `{"origin"?, "token"?: {"sub"?, "groups"?},
/// "client"?: {"name"?, "version"?}, "session"?}`.
package struct PolicyAsker: Sendable {
  /// The members of its JSON.
  static let members = ["origin", "token", "client", "session"]

  /// Nil for what is no page.
  package let origin: String?
  /// The token's `sub`.
  package let user: String?
  package let groups: Set<String>
  /// What the program calls itself, and its version.
  private let client: Caller.Client?
  private let session: String

  /// Nobody in particular, who is no page.
  package init() {
    (origin, user, groups, client, session) = (nil, nil, [], nil, "")
  }

  /// Throws every fault of the JSON.
  package init(parsing value: Value) throws(DocumentFaults) {
    var reader = CaseReader()
    guard let object = reader.object(value, at: .root, known: Self.members) else {
      throw DocumentFaults(faults: reader.faults)
    }
    self.init(object, &reader)
    guard reader.faults.isEmpty else { throw DocumentFaults(faults: reader.faults) }
  }

  fileprivate init(_ object: ValueObject, _ reader: inout CaseReader) {
    origin = reader.text("origin", of: object, at: .root)
    let path = JSONPath.root.member("token")
    // Further claims mean nothing to a policy.
    let claims = object["token"].flatMap { reader.object($0, at: path) } ?? [:]
    user = reader.text("sub", of: claims, at: path)
    var groups: Set<String> = []
    let groupsPlace = path.member("groups")
    let list = claims["groups"].flatMap { reader.list($0, at: groupsPlace) } ?? []
    for (index, value) in list.enumerated() {
      if let group = reader.text(value, at: groupsPlace.element(index)) { groups.insert(group) }
    }
    self.groups = groups
    let place = JSONPath.root.member("client")
    let software = object["client"].flatMap {
      reader.object($0, at: place, known: ["name", "version"])
    }
    client = software.map {
      Caller.Client(
        id: "", name: reader.text("name", of: $0, at: place),
        version: reader.text("version", of: $0, at: place))
    }
    session = reader.text("session", of: object, at: .root) ?? ""
  }

  /// As a call has it.
  package var caller: Caller {
    Caller(
      session: session, identity: Identity(user: user, groups: groups), client: client,
      origin: origin)
  }
}

/// What somebody asks a policy, and what it shall say.
package struct PolicyCase: Sendable {
  /// What a call is about.
  enum Subject {
    case nothing
    case uri(String)
    /// A host of a scheme, nil for every scheme.
    case host(scheme: String?, HostDefinition.Scope)
  }

  package let asker: PolicyAsker
  let method: String
  let subject: Subject
  /// `allow`, or the name of the rule that refuses.
  package let expected: String

  /// Reads `{"origin"?, "token"?, "method", "uri"?, "scheme"?, "server"?, "expect"}`: `uri` with
  /// methods that are about a route, and only with these; `scheme`, absent for a host of every one,
  /// and `server` with `host.register`. Throws every fault.
  package init(parsing value: Value) throws(DocumentFaults) {
    var reader = CaseReader()
    let known = PolicyAsker.members + ["method", "uri", "scheme", "server", "expect"]
    guard let object = reader.object(value, at: .root, known: known) else {
      throw DocumentFaults(faults: reader.faults)
    }
    asker = PolicyAsker(object, &reader)
    let method = reader.requiredText("method", of: object, at: .root)
    let expected = reader.requiredText("expect", of: object, at: .root)
    let subject = method.map { reader.subject(of: $0, object) }
    guard reader.faults.isEmpty, let method, let expected, let subject else {
      throw DocumentFaults(faults: reader.faults)
    }
    (self.method, self.expected, self.subject) = (method, expected, subject)
  }
}

extension PolicyCase {
  /// The call, for people.
  package var call: String {
    switch subject {
    case .nothing: method
    case .uri(let uri): "\(method) \(uri)"
    case .host(let scheme, let scope):
      "\(method) of \(scheme.map { $0 + ":" } ?? "every scheme")"
        + (scope == .server ? " for the server" : "")
    }
  }
}

/// Takes a row of cases apart.
private struct CaseReader: DocumentReader {
  var faults: [DocumentFault] = []

  mutating func subject(of method: String, _ object: ValueObject) -> PolicyCase.Subject {
    let uri = text("uri", of: object, at: .root)
    let scheme = text("scheme", of: object, at: .root)
    let isServer = bool("server", of: object, at: .root) ?? false
    let isOfRoutes = RouteMethod.allCases.contains { $0.name == method }
    let isOfHosts = method == "host.register"
    if method.utf8.contains(UInt8(ascii: "*")) {
      fault(.root.member("method"), "a call is of one method, without '*'")
    } else if let reason = PolicyMethodNames.fault(of: method) {
      fault(.root.member("method"), reason)
    }
    if isOfRoutes, object["uri"] == nil {
      fault(.root, "the member 'uri' is missing; \(method) is about what it leads to")
    } else if !isOfRoutes, object["uri"] != nil {
      fault(.root.member("uri"), "\(method) is about no URI; leave it out")
    }
    for name in ["scheme", "server"] where !isOfHosts && object[name] != nil {
      fault(.root.member(name), "\(method) is about no host; only host.register is")
    }
    if let uri {
      do throws(RouteURIError) {
        if try RouteURI(mapping: uri).scheme == nil { throw RouteURIError(.noScheme, at: 0) }
      } catch {
        fault(.root.member("uri"), "'\(uri)' is no URI that can be called: \(error)")
      }
    }
    if let scheme, !RouteURI.isScheme(scheme) {
      fault(.root.member("scheme"), "'\(scheme)' is no scheme")
    }
    if isOfHosts { return .host(scheme: scheme?.lowercased(), isServer ? .server : .session) }
    return uri.map(PolicyCase.Subject.uri) ?? .nothing
  }
}
