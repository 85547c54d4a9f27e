import Glibc
import Logging
import Synchronization
import WayRouting
import WayTransport
import WayValues

/// What this server does as one of several: what it tells of itself, hears of the others, and takes
/// from them. Usable from any thread.
final class ClusterDelegate: ClusterNode.Home {
  private weak let group: SessionServer?
  private let logger: Logger?
  /// Which of the other servers' hosts are known.
  private let hostsKnown = Locked<[String: Int64]>([:])
  /// Whether what others retain was asked for.
  private let knowsRetained = Atomic(false)
  /// The pages that were opened for other servers.
  private let openedPages = Locked<[String: OpenedPage]>([:])

  init(of group: SessionServer) {
    self.group = group
    logger = group.configuration.logger
  }

  private var others: [String] { group?.cluster?.others.map(\.server) ?? [] }

  var isAboutToEnd: Bool { group?.isAboutToEnd ?? true }

  func has(_ session: String) -> Bool {
    group?.directory.place(ofSession: session) != nil
  }

  func isUnreadable(_ session: String) -> Bool {
    group?.unreadable.withLock { $0.contains(session) } == true
  }

  func failed(_ reason: String) {
    logger?.warning("cluster", metadata: ["reason": "\(reason)"])
  }

  func came(_ server: String, _ presence: ValueObject) {
    logger?.notice(
      "a server of the cluster is there", metadata: Self.about(server, presence))
  }

  func left(_ server: String, _ presence: ValueObject, _ why: String) {
    logger?.notice(
      "a server of the cluster is not there any more",
      metadata: Self.about(server, presence).merging(["reason": "\(why)"]) { one, _ in one })
  }

  private static func about(_ server: String, _ presence: ValueObject) -> Logger.Metadata {
    ["server": "\(server)", "host": "\(presence["host"]?.string ?? "")"]
  }

  func take(up stored: StoredSession, on loop: (any EventLoop)?) async {
    guard let group else { return }
    let hub = loop.flatMap { loop in group.hubs.first { $0.loop === loop } } ?? group.nextHub
    await hub?.take(up: stored)
  }

  /// That of the machine, for people (gethostname(2)).
  private static let hostName = String(unsafeUninitializedCapacity: 256) { bytes in
    bytes.withMemoryRebound(to: CChar.self) { name in
      guard let start = name.baseAddress, gethostname(start, name.count) == 0 else { return 0 }
      return strnlen(start, name.count)
    }
  }

  func presence() async -> ValueObject {
    guard let group else { return [:] }
    // Each second, so nothing that costs by the sessions.
    var members: ValueObject = [
      "host": .string(Self.hostName), "version": .string(ServerSoftware.version),
      "since": .integer(group.since),
      "draining": .bool(group.isAboutToEnd || !group.isRestored.load(ordering: .relaxed)),
      "sessions": .integer(Int64(group.sessionCount)),
      "clients": .integer(Int64(group.directory.clientCount)),
      "policy": .string(group.policies.current),
      "hosts": .integer(Int64(group.serverHosts.generation)),
    ]
    if let stamp = group.configuration.router.snapshot().table { members["table"] = stamp.value }
    let links = group.links.withLock { $0.count }
    if links > 0 { members["links"] = .integer(Int64(links)) }
    if let clusterTable = group.clusterTable {
      members["tableRevision"] = .integer(Int64(clamping: await clusterTable.revision))
    }
    if let relays = group.cluster?.relayCounts {
      members["relays"] = [
        "in": .integer(Int64(relays.entrances)), "out": .integer(Int64(relays.owned)),
      ]
    }
    return members
  }

  func accept(_ hello: RelayHello, _ end: RelayEnd) -> RelayChannel? {
    guard let group, group.isRestored.load(ordering: .relaxed),
      let hub = group.hub(ofSession: hello.session) ?? group.nextHub
    else { return nil }
    return RelayChannel(
      hub.loop, maxBacklog: hub.limits.maxBacklog, send: end.send, ended: end.ended
    ) { [weak hub] channel, began in
      guard let hub else { return channel.close(.drain, "the server ends") }
      let connection = Connection(
        channel, hello.handshake, hub: hub, began: began, isRelayed: true)
      channel.attach(connection)
      connection.begin()
    }
  }

  func answer(
    _ question: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    guard let group else { throw CallError(.unavailable, "The server ends") }
    return try await PeerHandlers(group: group, openedPages: openedPages).answer(question, progress)
  }

  func heard(_ presence: ValueObject, of server: String) {
    let hosts = presence["hosts"]?.integer ?? 0
    let isKnown = hostsKnown.withLock { known in
      if known[server] == hosts { return true }
      known[server] = hosts
      return false
    }
    if !isKnown { Task { await askForHosts(of: server) } }
    if !knowsRetained.exchange(true, ordering: .relaxed) { Task { await fetchRetained() } }
    if let clusterTable = group?.clusterTable, let revision = presence["tableRevision"]?.integer {
      Task { try? await clusterTable.heard(of: UInt64(clamping: revision)) }
    }
  }

  func lost(_ server: String) {
    hostsKnown.withLock { $0[server] = nil }
    guard let group else { return }
    let router = group.configuration.router.snapshot()
    group.serverHosts.set([], of: server, router: router, within: group.budget)
  }

  /// What the clients of another server host for all sessions.
  private func askForHosts(of server: String) async {
    guard let group else { return }
    do throws(CallError) {
      let told = try await group.allServers.ask(server, ["ask": "hosts"])
      let limit = group.configuration.limits.maxHosts
      var hosts: [(member: RemoteHost, isAway: Bool, definitions: [HostDefinition])] = []
      for host in told["hosts"]?.list ?? [] {
        guard let session = host["session"]?.string, let client = host["client"]?.string,
          let definitions = try? HostDefinition.list(host["hosts"]?.list ?? [], limit: limit)
        else {
          failed("a host of the server \(server) cannot be read, and is left out")
          continue
        }
        hosts.append(
          (
            RemoteHost(server: server, session: session, client: client),
            host["away"]?.bool ?? false, definitions
          ))
      }
      // An answer that was overtaken, or comes from a server that is gone, says nothing any more.
      let generation = told["generation"]?.integer ?? 0
      guard others.contains(server),
        hostsKnown.withLock({ ($0[server] ?? 0) <= generation })
      else { return }
      let refusals = group.serverHosts.set(
        hosts, of: server, router: group.configuration.router.snapshot(), within: group.budget)
      if let refusal = refusals.first {
        logger?.warning(
          "hosts of another server are not taken",
          metadata: ["server": "\(server)", "reason": "\(refusal.message)"])
      }
    } catch {
      // It is asked again when it tells of itself next.
      hostsKnown.withLock { $0[server] = nil }
    }
  }

  func cutOff(_ reason: String) async {
    for hub in group?.hubs ?? [] { await hub.cutOff(reason, untilVerified: true) }
  }

  func keepAnew() async throws {
    for hub in group?.hubs ?? [] { try await hub.keepAnew() }
  }

  func verify() async throws {
    for hub in group?.hubs ?? [] { try await hub.verify() }
  }

  /// Takes what the others retain for clients that subscribe later.
  private func fetchRetained() async {
    guard let group else { return }
    for server in others {
      guard let told = try? await group.allServers.ask(server, ["ask": "retained"]) else {
        continue
      }
      for hub in group.hubs { await hub.retain(told: told.list ?? []) }
      return
    }
    // Whoever tells of itself next is asked.
    knowsRetained.store(false, ordering: .relaxed)
  }
}
