import WayValues

/// `host.…`: what a client shows and runs.
enum HostMethods {
  private static let hosts = Param(.hosts, .list)

  static let all = [
    Method("host.register", [hosts], register), Method("host.unregister", [hosts], unregister),
  ]

  private static func register(
    _ session: isolated Session, _ params: Params, _ address: ReplyAddress
  ) throws(CallError) -> Reply {
    let client = address.client
    let definitions = try definitions(params, session.limits)
    try session.guide.hosts.register(
      definitions, for: client, router: session.guide.snapshot)
    LinkFollowing.hostsChanged(in: session)
    return declared(by: client, in: session)
  }

  private static func unregister(
    _ session: isolated Session, _ params: Params, _ address: ReplyAddress
  ) throws(CallError) -> Reply {
    let client = address.client
    let definitions = try definitions(params, session.limits)
    try session.guide.hosts.unregister(definitions, of: client.id)
    return declared(by: client, in: session)
  }

  private static func definitions(
    _ params: Params, _ limits: Limits
  ) throws(CallError) -> [HostDefinition] {
    try HostDefinition.list(try params.requiredList(.hosts), limits: limits)
  }

  private static func declared(by client: Client, in session: isolated Session) -> Reply {
    let definitions = session.guide.hosts.definitions(of: client.id)
    return .value(["hosts": .list(definitions.map(\.value))])
  }
}
