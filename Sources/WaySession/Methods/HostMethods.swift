import WayTransport
import WayValues

/// `host.…`: the pages and tasks that a client hosts.
enum HostMethods {
  private static let hosts = Param(.hosts, .list)

  static let all = [
    SessionMethod("host.register", [hosts], register),
    SessionMethod("host.unregister", [hosts], unregister),
  ]

  private static func register(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let definitions = try definitions(params, session.limits)
    try registerHosts(definitions, by: client, in: session)
    AbsentHostRequests.move(in: session)
    session.offerDeepLinks()
    return registeredHosts(by: client, in: session)
  }

  private static func unregister(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let definitions = try definitions(params, session.limits)
    if try scope(of: definitions) == .server {
      try session.environment.serverHosts.unregister(definitions, of: client)
    } else {
      try session.resolver.hosts.unregister(definitions, of: client.id)
    }
    session.recordChange(client)
    return registeredHosts(by: client, in: session)
  }

  /// Registers the hosts of a client. If it throws, nothing has changed.
  static func registerHosts(
    _ definitions: [SessionHostDefinition], by client: Client, in session: isolated Session
  ) throws(CallError) {
    try client.rights.check(hosting: definitions)
    let snapshot = session.resolver.snapshot
    if try scope(of: definitions) == .server {
      try session.environment.serverHosts.register(
        definitions, for: client, of: session, router: snapshot)
    } else {
      try session.resolver.hosts.register(
        definitions, as: client.id, router: snapshot
      ) { bytes throws(CallError) in try client.charge(bytes) }
    }
    if session.environment.inspector.isActive { session.events.inspectorSink.hostsChanged(client) }
    session.recordChange(client)
  }

  private static func scope(
    of definitions: [SessionHostDefinition]
  ) throws(CallError) -> SessionHostDefinition.HostScope {
    let scopes = Set(definitions.map(\.scope))
    guard scopes.count <= 1 else {
      throw .invalidParams(
        "params.hosts: register session hosts and server-wide hosts in separate requests")
    }
    return scopes.first ?? .session
  }

  private static func definitions(
    _ params: Params, _ limits: Limits
  ) throws(CallError) -> [SessionHostDefinition] {
    try SessionHostDefinition.parse(try params.requiredList(.hosts), limit: limits.maxHosts)
  }

  private static func registeredHosts(by client: Client, in session: isolated Session)
    -> CallDisposition
  {
    let definitions =
      session.resolver.hosts.definitions(of: client.id)
      + session.environment.serverHosts.definitions(of: client)
    return .value(["hosts": .array(definitions.map(\.value))])
  }
}
