import Synchronization
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// What clients run for the calls of all sessions, on all loops and of all servers. Those who have
/// declared the same share the load. May be used on any thread; a client that is handed out is still
/// confined to the loop of its session.
final class ServerHosts: Sendable {
  /// Who serves all sessions.
  struct Member: Sendable {
    enum Place: Sendable {
      case here(Client, home: WeakAsking)
      case elsewhere(RemoteHost)
    }

    /// The client's.
    let name: String
    let place: Place
  }

  /// A session that is not kept by who refers to it.
  struct WeakAsking: Sendable {
    weak let session: (any Requester)?
  }

  private struct State {
    var hosts: SessionHosts
    /// Those who have declared something, numbered downwards from -1: a session's own are numbered
    /// upwards from 1.
    var members: [ClientID: Member] = [:]
    /// Those without a connection.
    var away: Set<ClientID> = []
    /// Who has declared the same.
    var sharing: [HostDefinition: [ClientID]] = [:]
    /// The other servers' by their names.
    var elsewhere: [String: [ClientID]] = [:]
    var lastID: ClientID = 0
    /// Counts the changes of this server's own.
    var generation = 0

    func id(of client: Client) -> ClientID? {
      members.first { member in
        if case .here(let known, _) = member.value.place { known === client } else { false }
      }?.key
    }

    /// Finds out again who has declared the same.
    mutating func regroup() {
      sharing = [:]
      for id in members.keys.sorted(by: >) {
        for definition in hosts.definitions(of: id) { sharing[definition, default: []].append(id) }
      }
    }

    mutating func remove(_ id: ClientID) {
      hosts.removeAll(of: id)
      members[id] = nil
      away.remove(id)
    }
  }

  private let state: Locked<State>
  /// Whether anybody has declared anything: without, a call costs no lock.
  private let isUsed = Atomic(false)
  /// Whose turn it is among those who share.
  private let turn = Atomic(0)
  /// Told when what is declared here has changed.
  private let changed = Locked<(@Sendable () -> Void)?>(nil)

  init(limits: Limits) {
    state = Locked(State(hosts: SessionHosts(limits: limits)))
  }

  /// Has `work` told of each change of what is declared here.
  func whenChanged(_ work: @escaping @Sendable () -> Void) { changed.withLock { $0 = work } }

  private func tellChange() { changed.withLock { $0 }?() }

  /// The client of a number; nil where it is gone.
  subscript(id: ClientID) -> Member? {
    if id >= 0 || !isUsed.load(ordering: .acquiring) { return nil }
    return state.withLock { $0.members[id] }
  }

  /// Adds what a client of a session declares, all of it or, when something is wrong, nothing.
  func register(
    _ definitions: [HostDefinition], for client: Client, of home: any Requester,
    router: RouterSnapshot
  ) throws(CallError) {
    try state.withLock { (state) throws(CallError) in
      let known = state.id(of: client)
      let id = known ?? state.lastID - 1
      try state.hosts.register(definitions, as: id, router: router) { bytes throws(CallError) in
        try client.charge(bytes)
      }
      if known == nil { state.lastID = id }
      state.members[id] = Member(
        name: client.name, place: .here(client, home: WeakAsking(session: home)))
      if client.isAbsent { state.away.insert(id) }
      state.generation += 1
      state.regroup()
      isUsed.store(true, ordering: .releasing)
    }
    tellChange()
  }

  /// Takes back definitions of a client. Fails with -32602 for what it has not declared.
  func unregister(_ definitions: [HostDefinition], of client: Client) throws(CallError) {
    try state.withLock { (state) throws(CallError) in
      try state.hosts.unregister(definitions, of: state.id(of: client) ?? 0)
      state.generation += 1
      state.regroup()
    }
    tellChange()
  }

  /// A client has left.
  func removeAll(of client: Client) {
    guard isUsed.load(ordering: .acquiring) else { return }
    let isKnown = state.withLock { state in
      guard let id = state.id(of: client) else { return false }
      state.remove(id)
      state.generation += 1
      state.regroup()
      isUsed.store(!state.members.isEmpty, ordering: .releasing)
      return true
    }
    if isKnown { tellChange() }
  }

  /// A client has lost its connection, or has one again: who is away is asked last.
  func set(_ client: Client, isAway: Bool) {
    guard isUsed.load(ordering: .acquiring) else { return }
    let isChanged = state.withLock { state in
      guard let id = state.id(of: client), state.away.contains(id) != isAway else { return false }
      if isAway { state.away.insert(id) } else { state.away.remove(id) }
      state.generation += 1
      return true
    }
    if isChanged { tellChange() }
  }

  /// What the clients of another server host for all, in the place of what that has told before;
  /// nothing for one that is gone. What cannot be taken is left out, and given.
  @discardableResult
  func set(
    _ hosts: [(member: RemoteHost, isAway: Bool, definitions: [HostDefinition])],
    of server: String, router: RouterSnapshot, within budget: ByteBudget
  ) -> [CallError] {
    state.withLock { state in
      var refusals: [CallError] = []
      for id in state.elsewhere.removeValue(forKey: server) ?? [] { state.remove(id) }
      for (member, isAway, definitions) in hosts {
        let id = state.lastID - 1
        do throws(CallError) {
          try state.hosts.register(definitions, as: id, router: router) { bytes throws(CallError) in
            do throws(ByteBudget.Exhausted) { return try budget.charge(bytes) } catch {
              throw CallError(error, for: bytes)
            }
          }
        } catch {
          refusals.append(error)
          continue
        }
        state.lastID = id
        state.members[id] = Member(name: member.client, place: .elsewhere(member))
        if isAway { state.away.insert(id) }
        state.elsewhere[server, default: []].append(id)
      }
      state.regroup()
      isUsed.store(!state.members.isEmpty, ordering: .releasing)
      return refusals
    }
  }

  /// What the clients of this server host for all, and which of its changes that was.
  var own:
    (
      generation: Int,
      hosts: [(client: String, home: WeakAsking, isAway: Bool, definitions: [HostDefinition])]
    )
  {
    state.withLock { state in
      let hosts = state.members.keys.sorted(by: >).compactMap {
        id -> (client: String, home: WeakAsking, isAway: Bool, definitions: [HostDefinition])? in
        guard let member = state.members[id], case .here(_, let home) = member.place else {
          return nil
        }
        return (member.name, home, state.away.contains(id), state.hosts.definitions(of: id))
      }
      return (state.generation, hosts)
    }
  }

  /// Counts how often what is declared here has changed.
  var generation: Int { state.withLock { $0.generation } }

  /// All declarations, in no order.
  var definitions: [HostDefinition] { state.withLock { $0.hosts.definitions } }

  /// What a client has declared.
  func definitions(of client: Client) -> [HostDefinition] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    return state.withLock { state in state.id(of: client).map(state.hosts.definitions) ?? [] }
  }

  /// As ``SessionHosts/find(_:kind:patternsOnly:except:)``. Of those who have declared the same each
  /// has its turn; who has no connection comes after all others.
  func find(
    _ uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false,
    except declined: Set<SessionHosts.Host>
  ) throws(CallError) -> ChosenHost? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    // Looked at outside of the lock.
    let (hosts, away, sharing) = state.withLock { ($0.hosts, $0.away, $0.sharing) }
    func find(_ left: Set<SessionHosts.Host>) throws(CallError) -> ChosenHost? {
      try hosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: left)
    }
    guard !away.isEmpty else {
      return try find(declined).map { share($0, sharing, except: declined, away: away) }
    }
    let absent = away.flatMap { id in
      hosts.definitions(of: id).map { SessionHosts.Host(definition: $0, client: id) }
    }
    if let found = try find(declined.union(absent)) {
      return share(found, sharing, except: declined, away: away)
    }
    return try find(declined)
  }

  private func share(
    _ chosen: ChosenHost, _ sharing: [HostDefinition: [ClientID]],
    except declined: Set<SessionHosts.Host>, away: Set<ClientID>
  ) -> ChosenHost {
    let definition = chosen.host.definition
    let able = (sharing[definition] ?? []).filter { id in
      !away.contains(id)
        && !declined.contains(SessionHosts.Host(definition: definition, client: id))
    }
    guard able.count > 1 else { return chosen }
    let next = able[(turn.add(1, ordering: .relaxed).newValue & .max) % able.count]
    return ChosenHost(
      SessionHosts.Host(definition: definition, client: next), pattern: chosen.pattern,
      captures: chosen.captures)
  }
}

/// A client of a session of another server that runs something for all.
struct RemoteHost: Sendable, Hashable {
  let server: String
  let session: String
  let client: String
}
