import WayPatterns
import WayRouting
import WayTable
import WayValues

/// A caller for which a policy or a table is tested: `{"origin"?, "token"?: {"sub"?, "groups"?},
/// "client"?: {"name"?, "version"?}, "agent"?: {"id"?}, "session"?}`.
package struct PolicySubject: Sendable {
  /// The members of the subject's JSON.
  static let memberNames = ["origin", "token", "client", "agent", "session"]

  /// The page's origin; nil if the caller is not a page.
  package let origin: String?
  /// The token's `sub`.
  package let user: String?
  package let groups: Set<UTF8Key>
  /// The name and version of the client program.
  private let client: Caller.CallingClient?
  private let agent: Caller.CallingAgent?
  private let session: String

  /// Creates an anonymous caller that is not a page.
  package init() {
    (origin, user, groups, client, agent, session) = (nil, nil, [], nil, nil, "")
  }

  /// Throws every fault of the JSON.
  package init(parsing value: Value) throws(DocumentFaults) {
    var reader = CaseReader()
    guard let object = reader.object(value, at: .root, known: Self.memberNames) else {
      throw DocumentFaults(faults: reader.faults)
    }
    self.init(object, &reader)
    guard reader.faults.isEmpty else { throw DocumentFaults(faults: reader.faults) }
  }

  fileprivate init(_ object: ValueObject, _ reader: inout CaseReader) {
    origin = reader.string("origin", of: object, at: .root)
    let path = JSONPath.root.member("token")
    // A policy ignores other claims.
    let claims = object["token"].flatMap { reader.object($0, at: path) } ?? [:]
    user = reader.string("sub", of: claims, at: path)
    var groups: Set<UTF8Key> = []
    let groupsPath = path.member("groups")
    let list = claims["groups"].flatMap { reader.array($0, at: groupsPath) } ?? []
    for (index, value) in list.enumerated() {
      if let group = reader.string(value, at: groupsPath.element(index)) {
        groups.insert(UTF8Key(group))
      }
    }
    self.groups = groups
    let clientPath = JSONPath.root.member("client")
    let software = object["client"].flatMap {
      reader.object($0, at: clientPath, known: ["name", "version"])
    }
    client = software.map {
      Caller.CallingClient(
        id: "", name: reader.string("name", of: $0, at: clientPath),
        version: reader.string("version", of: $0, at: clientPath))
    }
    let agentPath = JSONPath.root.member("agent")
    agent = object["agent"].flatMap { reader.object($0, at: agentPath, known: ["id"]) }.map {
      Caller.CallingAgent(id: reader.string("id", of: $0, at: agentPath))
    }
    session = reader.string("session", of: object, at: .root) ?? ""
  }

  /// The caller of a call.
  package var caller: Caller {
    Caller(
      session: session, identity: Identity(user: user, groups: groups), client: client,
      isGuest: agent != nil, agent: agent, origin: origin)
  }
}

/// A call of a subject, and the decision that is expected of a policy.
package struct PolicyCase: Sendable {
  /// The target of a call.
  enum CaseTarget {
    case nothing
    case uri(String)
    /// The topic of an event.
    case topic(PolicyTopicMethod, String)
    /// A host of a scheme; nil for every scheme.
    case host(scheme: String?, SessionHostDefinition.HostScope, isInterceptor: Bool)
  }

  package let policySubject: PolicySubject
  let method: String
  let target: CaseTarget
  /// `allow`, or the name of the rule that denies the call.
  package let expected: String

  /// Reads `{"origin"?, "token"?, "method", "uri"?, "topic"?, "scheme"?, "server"?, "interceptor"?, "expect"}`.
  ///
  /// - `uri` is required for methods that concern a route, and invalid for others.
  /// - `topic` is required for `events.publish` and `event`, and invalid for others.
  /// - `scheme`, `server` and `interceptor` are valid only for `host.register`; without a scheme, the host is for
  ///   all schemes.
  ///
  /// Throws every fault.
  package init(parsing value: Value) throws(DocumentFaults) {
    var reader = CaseReader()
    let known =
      PolicySubject.memberNames + [
        "method", "uri", "topic", "scheme", "server", "interceptor", "expect",
      ]
    guard let object = reader.object(value, at: .root, known: known) else {
      throw DocumentFaults(faults: reader.faults)
    }
    policySubject = PolicySubject(object, &reader)
    let method = reader.requiredString("method", of: object, at: .root)
    let expected = reader.requiredString("expect", of: object, at: .root)
    let target = method.map { reader.target(of: $0, object) }
    guard reader.faults.isEmpty, let method, let expected, let target else {
      throw DocumentFaults(faults: reader.faults)
    }
    (self.method, self.expected, self.target) = (method, expected, target)
  }
}

extension PolicyCase {
  /// A description of the call for people.
  package var callDescription: String {
    switch target {
    case .nothing: method
    case .uri(let uri): "\(method) \(uri)"
    case .topic(_, let topic): "\(method) \(topic)"
    case .host(let scheme, let scope, let isInterceptor):
      "\(method) of \(isInterceptor ? "an interceptor of " : "")\(scheme.map { $0 + ":" } ?? "every scheme")"
        + (scope == .server ? " for the server" : "")
    }
  }
}

/// Decodes a row of cases.
private struct CaseReader: DocumentReader {
  var faults: [DocumentFault] = []

  mutating func target(of method: String, _ object: ValueObject) -> PolicyCase.CaseTarget {
    let uri = string("uri", of: object, at: .root)
    let topic = string("topic", of: object, at: .root)
    let scheme = string("scheme", of: object, at: .root)
    let isServer = boolean("server", of: object, at: .root) ?? false
    let isInterceptor = boolean("interceptor", of: object, at: .root) ?? false
    let routeMethod = PolicyRouteMethod.allCases.first { $0.name == method }
    let topicMethod = PolicyTopicMethod(rawValue: method)
    let isOfHosts = method == "host.register"
    if method.utf8.contains(UInt8(ascii: "*")) {
      addFault(.root.member("method"), "must name one method, without \"*\"")
    } else if let reason = PolicyMethodNames.fault(of: method) {
      addFault(.root.member("method"), reason)
    }
    if object["uri"] == nil, routeMethod == .pageCall || routeMethod?.isAboutOpenPages == false {
      addFault(.root, "the member \"uri\" is missing; \(method) is checked with its target")
    } else if routeMethod == nil, object["uri"] != nil {
      addFault(.root.member("uri"), "\(method) has no URI; remove it")
    }
    if topicMethod != nil, object["topic"] == nil {
      addFault(.root, "the member \"topic\" is missing; \(method) is checked with its topic")
    } else if topicMethod == nil, object["topic"] != nil {
      addFault(.root.member("topic"), "\(method) has no topic; remove it")
    }
    for name in ["scheme", "server", "interceptor"] where !isOfHosts && object[name] != nil {
      addFault(.root.member(name), "\(method) registers no host; only host.register does")
    }
    if let uri {
      do throws(RouteURIError) {
        if try RouteURI(mapping: uri).scheme == nil { throw RouteURIError(.noScheme, at: 0) }
      } catch {
        addFault(.root.member("uri"), "\"\(uri)\" is not a URI that can be called: \(error)")
      }
    }
    if let scheme, !RouteURI.isScheme(scheme) {
      addFault(.root.member("scheme"), "\"\(scheme)\" is not a scheme")
    }
    if let topicMethod, let topic {
      if let violation = SessionTopic.violation(in: topic, limit: TableTopicName.maxLength) {
        addFault(.root.member("topic"), "\"\(topic)\" \(violation)")
      }
      return .topic(topicMethod, topic)
    }
    if isOfHosts {
      return .host(
        scheme: scheme?.lowercased(), isServer ? .server : .session, isInterceptor: isInterceptor)
    }
    return uri.map(PolicyCase.CaseTarget.uri) ?? .nothing
  }
}
