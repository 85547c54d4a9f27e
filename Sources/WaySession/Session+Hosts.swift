import WayValues

extension Session {
  /// Registers hosts of a client. If it throws, nothing has changed.
  func registerHosts(
    _ definitions: [SessionHostDefinition], by client: Client
  ) throws(CallError) {
    try client.rights.check(hosting: definitions)
    let snapshot = resolver.snapshot
    if try SessionHostDefinition.scope(of: definitions) == .server {
      try environment.serverHosts.register(definitions, for: client, of: self, router: snapshot)
    } else {
      try resolver.hosts.register(
        definitions, as: client.id, router: snapshot
      ) { bytes throws(CallError) in try client.charge(bytes) }
    }
    if environment.inspector.isActive { events.inspectorSink.hostsChanged(client) }
    recordChange(client)
  }
}
