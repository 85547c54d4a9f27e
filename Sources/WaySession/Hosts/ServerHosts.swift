import Synchronization
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// The server-wide hosts: what clients run for the calls of all sessions, on all loops and of all
/// servers. Clients with the same definition share the load.
///
/// May be used on any thread. A client that is returned is still confined to the loop of its
/// session.
final class ServerHosts: Sendable {
  /// A client with server-wide hosts.
  struct ServerHost: Sendable {
    enum HostLocation: Sendable {
      case local(Client, session: WeakRequester)
      case remote(RemoteHost)
    }

    /// The name of the client.
    let name: String
    let location: HostLocation
  }

  /// A weak reference to a session.
  struct WeakRequester: Sendable {
    weak let requester: (any Requester)?
  }

  private struct ServerHostsState {
    var hosts: SessionHosts
    /// The clients with server-wide hosts, numbered downwards from -1. The clients of a session are
    /// numbered upwards from 1.
    var clients: [ClientID: ServerHost] = [:]
    /// The clients without a connection.
    var disconnected: Set<ClientID> = []
    /// The clients that have registered the same definition.
    var clientsByDefinition: [SessionHostDefinition: [ClientID]] = [:]
    /// The clients of other servers, by the names of the servers.
    var remoteClients: [String: [ClientID]] = [:]
    var lastID: ClientID = 0
    /// The number of changes to this server's own hosts.
    var generation = 0

    func id(of client: Client) -> ClientID? {
      clients.first { entry in
        if case .local(let known, _) = entry.value.location { known === client } else { false }
      }?.key
    }

    /// Groups the clients by their definitions again.
    mutating func regroup() {
      clientsByDefinition = [:]
      for id in clients.keys.sorted(by: >) {
        for definition in hosts.definitions(of: id) {
          clientsByDefinition[definition, default: []].append(id)
        }
      }
    }

    mutating func remove(_ id: ClientID) {
      hosts.removeAll(of: id)
      clients[id] = nil
      disconnected.remove(id)
    }
  }

  private let state: Locked<ServerHostsState>
  /// Whether any host is registered. If not, a call needs no lock.
  private let isUsed = Atomic(false)
  /// The counter that selects among clients that share the load.
  private let roundRobin = Atomic(0)
  /// Called when the hosts of this server have changed.
  private let onChange = Locked<(@Sendable () -> Void)?>(nil)

  init(limits: Limits) {
    state = Locked(ServerHostsState(hosts: SessionHosts(limits: limits)))
  }

  /// Sets the function that is called for each change to the hosts of this server.
  func setChangeHandler(_ work: @escaping @Sendable () -> Void) { onChange.withLock { $0 = work } }

  private func notifyChange() { onChange.withLock { $0 }?() }

  /// Whether a client has lost its connection.
  func isAbsent(_ id: ClientID) -> Bool { state.withLock { $0.disconnected.contains(id) } }

  /// Returns the client with this number; `nil` if it is gone.
  subscript(id: ClientID) -> ServerHost? {
    if id >= 0 || !isUsed.load(ordering: .acquiring) { return nil }
    return state.withLock { $0.clients[id] }
  }

  /// Registers the hosts of a client: all of them, or none if one is invalid.
  func register(
    _ definitions: [SessionHostDefinition], for client: Client, of requester: any Requester,
    router: RouterSnapshot
  ) throws(CallError) {
    try state.withLock { (state) throws(CallError) in
      let known = state.id(of: client)
      let id = known ?? state.lastID - 1
      try state.hosts.register(definitions, as: id, router: router) { bytes throws(CallError) in
        try client.charge(bytes)
      }
      if known == nil { state.lastID = id }
      state.clients[id] = ServerHost(
        name: client.name, location: .local(client, session: WeakRequester(requester: requester)))
      if client.isDisconnected { state.disconnected.insert(id) }
      state.generation += 1
      state.regroup()
      isUsed.store(true, ordering: .releasing)
    }
    notifyChange()
  }

  /// Unregisters hosts of a client. Fails with -32602 for a host that it has not registered.
  func unregister(_ definitions: [SessionHostDefinition], of client: Client) throws(CallError) {
    try state.withLock { (state) throws(CallError) in
      try state.hosts.unregister(definitions, of: state.id(of: client) ?? 0)
      state.generation += 1
      state.regroup()
    }
    notifyChange()
  }

  /// Removes the hosts of a client that has left.
  func removeAll(of client: Client) {
    guard isUsed.load(ordering: .acquiring) else { return }
    let isKnown = state.withLock { state in
      guard let id = state.id(of: client) else { return false }
      state.remove(id)
      state.generation += 1
      state.regroup()
      isUsed.store(!state.clients.isEmpty, ordering: .releasing)
      return true
    }
    if isKnown { notifyChange() }
  }

  /// Records that a client has lost its connection, or has one again. A client without a connection
  /// is asked last.
  func update(_ client: Client, isDisconnected: Bool) {
    guard isUsed.load(ordering: .acquiring) else { return }
    let isChanged = state.withLock { state in
      guard let id = state.id(of: client), state.disconnected.contains(id) != isDisconnected else {
        return false
      }
      if isDisconnected { state.disconnected.insert(id) } else { state.disconnected.remove(id) }
      state.generation += 1
      return true
    }
    if isChanged { notifyChange() }
  }

  /// Replaces the server-wide hosts of another server; with none if that server is gone. Returns
  /// the errors of hosts that cannot be registered, which are left out.
  @discardableResult
  func replaceHosts(
    _ hosts: [(member: RemoteHost, isAway: Bool, definitions: [SessionHostDefinition])],
    of server: String, router: RouterSnapshot, within budget: ByteBudget
  ) -> [CallError] {
    state.withLock { state in
      var errors: [CallError] = []
      for id in state.remoteClients.removeValue(forKey: server) ?? [] { state.remove(id) }
      for (client, isDisconnected, definitions) in hosts {
        let id = state.lastID - 1
        do throws(CallError) {
          try state.hosts.register(definitions, as: id, router: router) { bytes throws(CallError) in
            do throws(ByteBudget.Exhausted) { return try budget.charge(bytes) } catch {
              throw CallError(error, for: bytes)
            }
          }
        } catch {
          errors.append(error)
          continue
        }
        state.lastID = id
        state.clients[id] = ServerHost(name: client.client, location: .remote(client))
        if isDisconnected { state.disconnected.insert(id) }
        state.remoteClients[server, default: []].append(id)
      }
      state.regroup()
      isUsed.store(!state.clients.isEmpty, ordering: .releasing)
      return errors
    }
  }

  /// The server-wide hosts of this server's clients, with the ``generation`` that they belong to.
  var localHosts:
    (
      generation: Int,
      hosts: [(
        client: String, home: WeakRequester, isAway: Bool, definitions: [SessionHostDefinition]
      )]
    )
  {
    state.withLock { state in
      let hosts = state.clients.keys.sorted(by: >).compactMap {
        id -> (
          client: String, home: WeakRequester, isAway: Bool, definitions: [SessionHostDefinition]
        )? in
        guard let host = state.clients[id], case .local(_, let requester) = host.location else {
          return nil
        }
        return (
          host.name, requester, state.disconnected.contains(id), state.hosts.definitions(of: id)
        )
      }
      return (state.generation, hosts)
    }
  }

  /// The number of changes to the hosts of this server.
  var generation: Int { state.withLock { $0.generation } }

  /// All definitions, in no order.
  var definitions: [SessionHostDefinition] { state.withLock { $0.hosts.definitions } }

  /// Returns the definitions that a client has registered.
  func definitions(of client: Client) -> [SessionHostDefinition] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    return state.withLock { state in state.id(of: client).map(state.hosts.definitions) ?? [] }
  }

  /// Finds a host as ``SessionHosts/find(_:kind:patternsOnly:connectedOnly:except:)`` does. Clients
  /// with the same definition are selected in turn. Clients without a connection come last.
  func find(
    _ uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false, connectedOnly: Bool = false,
    except declined: Set<SessionHosts.RegisteredHost>
  ) throws(CallError) -> ChosenHost? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    // The search runs outside of the lock.
    let (hosts, disconnected, clientsByDefinition) = state.withLock {
      ($0.hosts, $0.disconnected, $0.clientsByDefinition)
    }
    func find(_ left: Set<SessionHosts.RegisteredHost>) throws(CallError) -> ChosenHost? {
      try hosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: left)
    }
    guard !disconnected.isEmpty else {
      return try find(declined).map {
        balance($0, clientsByDefinition, except: declined, disconnected: disconnected)
      }
    }
    let absent = disconnected.flatMap { id in
      hosts.definitions(of: id).compactMap {
        SessionHosts.RegisteredHost(definition: $0, client: id)
      }
    }
    if let found = try find(declined.union(absent)) {
      return balance(found, clientsByDefinition, except: declined, disconnected: disconnected)
    }
    return connectedOnly ? nil : try find(declined)
  }

  private func balance(
    _ chosen: ChosenHost, _ clientsByDefinition: [SessionHostDefinition: [ClientID]],
    except declined: Set<SessionHosts.RegisteredHost>, disconnected: Set<ClientID>
  ) -> ChosenHost {
    let definition = chosen.host.definition
    let available = (clientsByDefinition[definition] ?? []).filter { id in
      !disconnected.contains(id)
        && !declined.contains(chosen.host.ofClient(id))
    }
    guard available.count > 1 else { return chosen }
    let next = available[(roundRobin.add(1, ordering: .relaxed).newValue & .max) % available.count]
    return ChosenHost(
      chosen.host.ofClient(next), pattern: chosen.pattern, captures: chosen.captures)
  }
}

/// A client of a session on another server that has server-wide hosts.
struct RemoteHost: Sendable, Hashable {
  let server: String
  let session: String
  let client: String
}
