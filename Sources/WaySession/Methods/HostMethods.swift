import WayValues

/// `host.…`: what a client shows and runs.
enum HostMethods {
  private static let hosts = Param(.hosts, .list)

  static let all = [
    Method("host.register", [hosts], register), Method("host.unregister", [hosts], unregister),
  ]

  private static func register(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let client = address.client
    let definitions = try definitions(params, session.limits)
    try declare(definitions, by: client, in: session)
    DeepLinkRunner.hostsChanged(in: session)
    return declared(by: client, in: session)
  }

  private static func unregister(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let client = address.client
    let definitions = try definitions(params, session.limits)
    if try scope(of: definitions) == .server {
      try session.environment.serverHosts.unregister(definitions, of: client)
    } else {
      try session.guide.hosts.unregister(definitions, of: client.id)
    }
    session.note(client)
    return declared(by: client, in: session)
  }

  /// Registers what a client shows and runs. Fails with nothing changed.
  static func declare(
    _ definitions: [HostDefinition], by client: Client, in session: isolated Session
  ) throws(CallError) {
    try client.rights.check(hosting: definitions)
    let snapshot = session.guide.snapshot
    if try scope(of: definitions) == .server {
      try session.environment.serverHosts.register(
        definitions, for: client, of: session, router: snapshot)
    } else {
      try session.guide.hosts.register(
        definitions, as: client.id, router: snapshot
      ) { bytes throws(CallError) in try client.charge(bytes) }
    }
    if session.environment.watch.isOn { session.happenings.witness.hosts(client) }
    session.note(client)
  }

  private static func scope(
    of definitions: [HostDefinition]
  ) throws(CallError) -> HostDefinition.Scope {
    let scopes = Set(definitions.map(\.scope))
    guard scopes.count <= 1 else {
      throw .invalidParams(
        "params.hosts: give those of the session and those of the server in requests of their own")
    }
    return scopes.first ?? .session
  }

  private static func definitions(
    _ params: Params, _ limits: Limits
  ) throws(CallError) -> [HostDefinition] {
    try HostDefinition.list(try params.requiredList(.hosts), limit: limits.maxHosts)
  }

  private static func declared(by client: Client, in session: isolated Session) -> Reply {
    let definitions =
      session.guide.hosts.definitions(of: client.id)
      + session.environment.serverHosts.definitions(of: client)
    return .value(["hosts": .list(definitions.map(\.value))])
  }
}
