import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// What clients run for the calls of all sessions. Confined to the loop of the sessions.
final class ServerHosts: @unchecked Sendable {
  private var hosts: SessionHosts
  /// Those who have declared something, numbered downwards from -1: a session's own are numbered
  /// upwards from 1.
  private var clients: [ClientID: Client] = [:]
  private var lastID: ClientID = 0

  init(limits: Limits) {
    hosts = SessionHosts(limits: limits)
  }

  /// The client of a number; nil where it is gone.
  subscript(id: ClientID) -> Client? { clients[id] }

  /// Adds what a client declares, all of it or, when something is wrong, nothing.
  func register(
    _ definitions: [HostDefinition], for client: Client, router: RouterSnapshot
  ) throws(CallError) {
    let known = id(of: client)
    let id = known ?? lastID - 1
    try hosts.register(definitions, for: client, as: id, router: router)
    if known == nil { lastID = id }
    clients[id] = client
  }

  /// Takes back definitions of a client. Fails with -32602 for what it has not declared.
  func unregister(_ definitions: [HostDefinition], of client: Client) throws(CallError) {
    try hosts.unregister(definitions, of: id(of: client) ?? 0)
  }

  /// A client has left.
  func removeAll(of client: Client) {
    guard let id = id(of: client) else { return }
    hosts.removeAll(of: id)
    clients[id] = nil
  }

  /// All declarations, in no order.
  var definitions: [HostDefinition] { hosts.definitions }

  /// What a client has declared.
  func definitions(of client: Client) -> [HostDefinition] {
    id(of: client).map(hosts.definitions) ?? []
  }

  /// As ``SessionHosts/find(_:kind:patternsOnly:except:)``.
  func find(
    _ uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false,
    except declined: Set<SessionHosts.Host>
  ) throws(CallError) -> ChosenHost? {
    if clients.isEmpty { return nil }
    return try hosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: declined)
  }

  private func id(of client: Client) -> ClientID? {
    clients.first { $1 === client }?.key
  }
}
