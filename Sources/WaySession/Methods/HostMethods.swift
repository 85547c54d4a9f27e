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
    try session.registerHosts(definitions, by: client)
    session.moveRequestsOfAbsentHosts()
    session.offerDeepLinks()
    return registeredHosts(by: client, in: session)
  }

  private static func unregister(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let definitions = try definitions(params, session.limits)
    if try SessionHostDefinition.scope(of: definitions) == .server {
      try session.environment.serverHosts.unregister(definitions, of: client)
    } else {
      try session.resolver.hosts.unregister(definitions, of: client.id)
    }
    session.recordChange(client)
    return registeredHosts(by: client, in: session)
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
