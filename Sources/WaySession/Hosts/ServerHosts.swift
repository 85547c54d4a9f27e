import Synchronization
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// What clients run for the calls of all sessions, on all loops. May be used on any thread; a client
/// that is handed out is still confined to the loop of its session.
final class ServerHosts: Sendable {
  /// Who serves all sessions.
  struct Member: Sendable {
    let client: Client
    weak let home: (any Asking)?
  }

  private struct State {
    var hosts: SessionHosts
    /// Those who have declared something, numbered downwards from -1: a session's own are numbered
    /// upwards from 1.
    var members: [ClientID: Member] = [:]
    var lastID: ClientID = 0

    func id(of client: Client) -> ClientID? { members.first { $1.client === client }?.key }
  }

  private let state: Locked<State>
  /// Whether anybody has declared anything: without, a call costs no lock.
  private let isUsed = Atomic(false)

  init(limits: Limits) {
    state = Locked(State(hosts: SessionHosts(limits: limits)))
  }

  /// The client of a number; nil where it is gone.
  subscript(id: ClientID) -> Member? {
    if id >= 0 || !isUsed.load(ordering: .acquiring) { return nil }
    return state.withLock { $0.members[id] }
  }

  /// Adds what a client of a session declares, all of it or, when something is wrong, nothing.
  func register(
    _ definitions: [HostDefinition], for client: Client, of home: any Asking, router: RouterSnapshot
  ) throws(CallError) {
    try state.withLock { (state) throws(CallError) in
      let known = state.id(of: client)
      let id = known ?? state.lastID - 1
      try state.hosts.register(definitions, for: client, as: id, router: router)
      if known == nil { state.lastID = id }
      state.members[id] = Member(client: client, home: home)
      isUsed.store(true, ordering: .releasing)
    }
  }

  /// Takes back definitions of a client. Fails with -32602 for what it has not declared.
  func unregister(_ definitions: [HostDefinition], of client: Client) throws(CallError) {
    try state.withLock { (state) throws(CallError) in
      try state.hosts.unregister(definitions, of: state.id(of: client) ?? 0)
    }
  }

  /// A client has left.
  func removeAll(of client: Client) {
    guard isUsed.load(ordering: .acquiring) else { return }
    state.withLock { state in
      guard let id = state.id(of: client) else { return }
      state.hosts.removeAll(of: id)
      state.members[id] = nil
      isUsed.store(!state.members.isEmpty, ordering: .releasing)
    }
  }

  /// All declarations, in no order.
  var definitions: [HostDefinition] { state.withLock { $0.hosts.definitions } }

  /// What a client has declared.
  func definitions(of client: Client) -> [HostDefinition] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    return state.withLock { state in state.id(of: client).map(state.hosts.definitions) ?? [] }
  }

  /// As ``SessionHosts/find(_:kind:patternsOnly:except:)``.
  func find(
    _ uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false,
    except declined: Set<SessionHosts.Host>
  ) throws(CallError) -> ChosenHost? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    // Looked at outside of the lock.
    let hosts = state.withLock { $0.hosts }
    return try hosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: declined)
  }
}
