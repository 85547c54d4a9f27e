import TestSupport
import WaySession

@testable import WaybridgeCluster

/// A server with a lease, other servers that may remove it, voters and the store of the lease, all of
/// them simulated. Anything fails at random: processes stop and continue, voters restart, links
/// stall, connections end, the store elects a leader, and clocks differ in rate.
struct NATSQuorumSimulation {
  /// What has happened.
  struct Outcome {
    var renewals = 0
    var extensions = 0
    /// Whether another server has removed the lease.
    var isRemoved = false
    /// Whether votes were needed for that.
    var isRemovedByVotes = false
    /// How often the lease was valid although it was removed.
    var violations = 0
  }

  private enum ClientItem {
    case subscribe
    case publish(NATSQuorumSignal)
    case ping
  }

  private enum VoterItem {
    case signal(NATSQuorumSignal)
    case pong
  }

  /// A connection between a server and a voter.
  private final class Link {
    let process: String
    var toVoter: [(item: ClientItem, arrival: UInt64)] = []
    var toServer: [(item: VoterItem, arrival: UInt64)] = []
    var isSubscribed = false
    /// Copies of a signal that the voter has not yet put into the queues of the receivers.
    var deliveries: [(receiver: Link, signal: NATSQuorumSignal)] = []
    var stalledUntil: UInt64 = 0
    /// Whether the server has closed it. What it has sent before may still arrive.
    var isClosed = false

    init(process: String) { self.process = process }
  }

  private struct Voter {
    let name: String
    var restarts = 0
    var links: [Link] = []
    var stoppedUntil: UInt64 = 0

    var process: String { "\(name)-\(restarts)" }
  }

  /// A server's exchange with one voter.
  private struct Probe {
    var link: Link?
    var isConnected = false
    var awaited: (signal: NATSQuorumSignal, sentAt: UInt64, deadline: UInt64)?
    var nextRound: UInt64 = 0
    /// An extension that is computed, but not yet in force.
    var extensionEnd: UInt64?
  }

  private struct Server {
    let name: String
    /// Nanoseconds of its clock in a second, and at the beginning.
    let rate: UInt64
    let offset: UInt64
    var quorum: NATSQuorum
    var probes: [Probe]
    var stoppedUntil: UInt64 = 0
    var isObserving = false
    var known: (revision: UInt64, since: UInt64)?
    var nextCheck: UInt64 = 0
    /// A removal of the lease that is on its way to the store.
    var removal: (revision: UInt64, arrival: UInt64)?
    var isRemovalByVotes = false

    func clock(at time: UInt64) -> UInt64 { offset + time / 1000 * (rate / 1_000_000) }
  }

  private static let millisecond: UInt64 = 1_000_000
  private static let step = 50 * millisecond
  private static let second = 1000 * millisecond

  private(set) var outcome = Outcome()
  private var random: SeededRandom
  private var time: UInt64 = 0
  private var number: UInt64 = 0
  private var voters: [Voter]
  private var servers: [Server]
  /// The lease of the first server.
  private let lease = SessionLeaseValidity(suspendedTime: { 0 })
  private var renewalTime: UInt64?
  private var nextRenewal: UInt64 = 0
  private var renewal: (revision: UInt64, sentAt: UInt64, arrival: UInt64, response: UInt64?)?
  /// What the first server knows of its key.
  private var ownRevision: UInt64?
  private var isLost = false
  /// The key in the store.
  private var storedRevision: UInt64 = 1
  private var storeReturns: UInt64 = 0
  /// When the first server reaches the store again.
  private var cutOffUntil: UInt64 = 0
  private var removalTime: UInt64 = 0
  /// Whether the other servers are connected to the voters.
  private let othersHaveVotes: Bool

  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let names = (0..<(seed.isMultiple(of: 3) ? 5 : 3)).map { "voter\($0)" }
    voters = names.map { Voter(name: $0) }
    servers = (0..<3).map { number in
      Server(
        name: "server\(number)", rate: .random(in: 980_000_000...1_020_000_000, using: &random),
        offset: .random(in: 1...(100 * Self.second), using: &random),
        quorum: NATSQuorum(voters: names), probes: names.map { _ in Probe() })
    }
    ownRevision = 1
    othersHaveVotes = !seed.isMultiple(of: 5)
    self.random = random
  }

  /// Simulates this many seconds, but not more than half a minute after the lease was removed.
  mutating func run(seconds: UInt64) {
    var end = seconds * Self.second
    while time < end {
      time += Self.step
      fail()
      for voter in voters.indices where voters[voter].stoppedUntil <= time { runVoter(voter) }
      runStore()
      for server in servers.indices.shuffled(using: &random)
      where servers[server].stoppedUntil <= time {
        if server == 0 || othersHaveVotes {
          for voter in voters.indices { runProbe(server, voter) }
        }
        if server == 0 { renew() } else { observe(server) }
      }
      if outcome.isRemoved { end = min(end, removalTime + 30 * Self.second) }
      if outcome.isRemoved, !lease.hasExpired(at: servers[0].clock(at: time)) {
        outcome.violations += 1
      }
    }
  }

  private mutating func occurs(oneIn count: Int) -> Bool {
    Int.random(in: 0..<count, using: &random) == 0
  }

  private mutating func duration(upTo seconds: UInt64) -> UInt64 {
    .random(in: 0...(seconds * Self.second), using: &random)
  }

  /// The time at which a message arrives that is sent now: mostly soon.
  private mutating func arrival() -> UInt64 {
    time + (occurs(oneIn: 20) ? duration(upTo: 1) : duration(upTo: 1) / 50)
  }

  private mutating func fail() {
    if occurs(oneIn: 200) { storeReturns = time + duration(upTo: 15) }
    if occurs(oneIn: 200) { cutOffUntil = time + duration(upTo: 30) }
    for server in servers.indices where occurs(oneIn: server == 0 ? 200 : 600) {
      servers[server].stoppedUntil = max(servers[server].stoppedUntil, time + duration(upTo: 8))
    }
    // One that stays away, as after a crash.
    if occurs(oneIn: 2500) { servers[0].stoppedUntil = .max }
    for voter in voters.indices {
      if occurs(oneIn: 1000) { voters[voter].stoppedUntil = time + duration(upTo: 4) }
      if occurs(oneIn: 1500) {
        voters[voter].restarts += 1
        voters[voter].links = []
        voters[voter].stoppedUntil = time + duration(upTo: 2)
      }
      for server in servers.indices {
        let link = servers[server].probes[voter].link
        if occurs(oneIn: server == 0 ? 40 : 800) {
          link?.stalledUntil = time + duration(upTo: occurs(oneIn: 2) ? 8 : 1)
        }
        if occurs(oneIn: 1000) {
          voters[voter].links.removeAll { $0 === link }
          link?.stalledUntil = .max
        }
      }
    }
  }

  /// A voter handles the messages of each connection in their order, and all connections at once.
  private mutating func runVoter(_ voter: Int) {
    voters[voter].links.removeAll { link in
      link.isClosed && (link.toVoter.isEmpty || link.stalledUntil == .max)
        && link.deliveries.isEmpty
    }
    for _ in 0..<8 {
      guard let link = voters[voter].links.randomElement(using: &random) else { return }
      if let delivery = link.deliveries.popLast() {
        delivery.receiver.toServer.append((.signal(delivery.signal), arrival()))
        continue
      }
      guard let first = link.toVoter.first, first.arrival <= time, link.stalledUntil <= time else {
        continue
      }
      link.toVoter.removeFirst()
      switch first.item {
      case .subscribe: link.isSubscribed = true
      case .publish(let signal):
        link.deliveries = voters[voter].links.filter(\.isSubscribed).map { ($0, signal) }
          .shuffled(using: &random)
      case .ping: link.toServer.append((.pong, arrival()))
      }
    }
  }

  private mutating func runProbe(_ server: Int, _ voter: Int) {
    let now = servers[server].clock(at: time)
    if let end = servers[server].probes[voter].extensionEnd {
      servers[server].probes[voter].extensionEnd = nil
      if lease.extend(until: end, at: now) { outcome.extensions += 1 }
    }
    var probe = servers[server].probes[voter]
    defer { servers[server].probes[voter] = probe }
    let name = voters[voter].name
    guard let link = probe.link else {
      guard now >= probe.nextRound else { return }
      let link = Link(process: voters[voter].process)
      voters[voter].links.append(link)
      link.toVoter.append((.subscribe, arrival()))
      probe.link = link
      probe.isConnected = false
      return send(.init(isLeaseHolder: false), &probe, link, server, now)
    }
    var isAnswered = false
    var signals: [NATSQuorumSignal] = []
    while let first = link.toServer.first, first.arrival <= time, link.stalledUntil <= time {
      link.toServer.removeFirst()
      switch first.item {
      case .signal(let signal): signals.append(signal)
      case .pong: isAnswered = true
      }
    }
    if probe.isConnected {
      for signal in signals { servers[server].quorum.receive(signal, through: name, at: now) }
    }
    if let awaited = probe.awaited {
      if isAnswered, signals.contains(awaited.signal) || probe.isConnected {
        probe.awaited = nil
        if probe.isConnected {
          let extends = awaited.signal.isLeaseHolder
          servers[server].quorum.complete(name, sentAt: awaited.sentAt, extends: extends)
          if extends, let renewalTime {
            probe.extensionEnd = servers[server].quorum.extensionEnd(renewedAt: renewalTime)
          }
        } else {
          probe.isConnected = true
          servers[server].quorum.connect(name, to: link.process, at: now)
        }
      } else if now > awaited.deadline || isAnswered {
        link.isClosed = true
        probe = Probe(nextRound: now + Self.second / 2)
        servers[server].quorum.disconnect(name)
      }
      return
    }
    guard now >= probe.nextRound else { return }
    probe.nextRound = now + Self.second / 2
    let isExtending =
      server == 0 && !lease.hasExpired(at: now)
      && renewalTime.map {
        now > $0 + Self.second * 3 / 2 && now < $0 + NATSQuorum.maxExtension
      } == true
    if isExtending || servers[server].isObserving {
      send(.init(isLeaseHolder: isExtending), &probe, link, server, now)
    }
  }

  private struct Purpose { let isLeaseHolder: Bool }

  private mutating func send(
    _ purpose: Purpose, _ probe: inout Probe, _ link: Link, _ server: Int, _ now: UInt64
  ) {
    number += 1
    let signal = NATSQuorumSignal(
      server: servers[server].name, natsServer: link.process, number: number,
      isLeaseHolder: purpose.isLeaseHolder)
    link.toVoter.append((.publish(signal), arrival()))
    link.toVoter.append((.ping, arrival()))
    probe.awaited = (signal, now, now + Self.second)
  }

  private mutating func runStore() {
    if let renewal, renewal.arrival <= time, renewal.response == nil {
      if max(storeReturns, cutOffUntil) <= time, renewal.revision == storedRevision,
        !outcome.isRemoved
      {
        storedRevision += 1
        outcome.renewals += 1
        let response = occurs(oneIn: 10) ? .max : arrival()
        self.renewal?.response = response
      } else {
        self.renewal?.response = .max
      }
    }
    for server in servers.indices {
      guard let removal = servers[server].removal, removal.arrival <= time else { continue }
      servers[server].removal = nil
      guard storeReturns <= time, removal.revision == storedRevision, !outcome.isRemoved else {
        continue
      }
      outcome.isRemoved = true
      removalTime = time
      outcome.isRemovedByVotes = servers[server].isRemovalByVotes
    }
  }

  /// The first server renews its lease.
  private mutating func renew() {
    let now = servers[0].clock(at: time)
    if let renewal {
      if let response = renewal.response, response <= time {
        lease.renew(until: renewal.sentAt + NATSQuorum.validity, suspended: 0)
        renewalTime = renewal.sentAt
        ownRevision = renewal.revision + 1
        self.renewal = nil
      } else if now > renewal.sentAt + Self.second {
        ownRevision = nil
        // One that is still on its way may arrive.
        if renewal.response != nil { self.renewal = nil }
      }
      return
    }
    guard !isLost, now >= nextRenewal else { return }
    nextRenewal = now + Self.second
    if ownRevision == nil, max(storeReturns, cutOffUntil) <= time {
      if outcome.isRemoved {
        isLost = true
        return lease.revoke()
      }
      ownRevision = storedRevision
    }
    if let ownRevision { renewal = (ownRevision, now, arrival(), nil) }
  }

  /// Another server finds out whether the lease has ended.
  private mutating func observe(_ server: Int) {
    let now = servers[server].clock(at: time)
    guard now >= servers[server].nextCheck, storeReturns <= time, servers[server].removal == nil
    else { return }
    servers[server].nextCheck = now + Self.second / 2
    guard let known = servers[server].known, known.revision == storedRevision else {
      servers[server].known = (storedRevision, now)
      servers[server].isObserving = false
      return
    }
    servers[server].isObserving = now - known.since > 2 * Self.second
    guard
      servers[server].quorum.hasEnded(
        leaseOf: servers[0].name, voters: servers[server].quorum.voters,
        unchangedSince: known.since, at: now)
    else { return }
    servers[server].isRemovalByVotes = now - known.since <= NATSQuorum.maxLifetime
    servers[server].removal = (
      known.revision, occurs(oneIn: 4) ? time + duration(upTo: 3) : arrival()
    )
  }
}
