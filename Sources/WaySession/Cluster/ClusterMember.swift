import Synchronization
import WayTransport
import WayValues

/// This server among those of its cluster: hears of the others, hands on what they send, and tells
/// them that it is there. May be used on any thread.
package final class ClusterNode: Sendable {
  /// What it needs of the server.
  protocol Home: SessionFinder.Home {
    /// What it tells of itself.
    func presence() async -> ValueObject
    /// Another server has told of itself.
    func heard(_ presence: ValueObject, of server: String)
    /// A server is there that was not, with what it tells of itself.
    func came(_ server: String, _ presence: ValueObject)
    /// A server is not there any more that was, and why.
    func left(_ server: String, _ presence: ValueObject, _ why: String)
    /// Another server is gone, or away.
    func lost(_ server: String)
    /// Takes a connection that came in elsewhere.
    func accept(_ hello: RelayHello, _ end: RelayEnd) -> RelayChannel?
    /// Answers another server.
    func answer(
      _ question: Value, _ progress: @escaping @Sendable (Value) -> Void
    ) async throws(CallError) -> Value
    /// Something did not succeed that is tried again.
    func failed(_ reason: String)
    /// Nothing may be answered any more of what other servers may have taken over; tells why.
    func cutOff(_ reason: String) async
    /// Writes all of its sessions anew. Throws where that cannot be.
    func keepAnew() async throws
    /// It is there again for the others: finds out which sessions are still its own. Throws where
    /// that cannot be.
    func verify() async throws
  }

  /// How often it tells that it is there.
  static let interval: Duration = .seconds(1)
  /// How long what there is to tell is gathered.
  private static let gathering: Duration = .milliseconds(20)
  /// How long the sessions of a server that is gone are left to who comes for them.
  private static let orphanage: Duration = .seconds(5)

  package let engine: any ClusterEngine
  /// The name of this server, unique among all there ever were.
  package let server: String
  package let counts = ClusterCounts()
  let relays: Relays
  let questions: SessionPeerRequests
  let finder: SessionFinder
  private let links: Locked<PeerTable>
  private let store: StoreQueue
  private let outgoing: PeerSender
  private let state: Locked<State>

  private struct State {
    var home: (any Home)?
    var loop: (any EventLoop)?
    var timer: (any ScheduledWork)?
    var lastTick: UInt64 = 0
    var isEnded = false
    /// Whether the others are told soon.
    var isTelling = false
    /// Servers of which it is being found out whether they are gone.
    var doubtful: Set<String> = []
    /// Whether all sessions are being kept anew.
    var isKeepingAnew = false
  }

  init(_ engine: any ClusterEngine, _ server: String, _ store: StoreQueue) {
    self.engine = engine
    self.server = server
    self.store = store
    let links = Locked(PeerTable())
    self.links = links
    let outgoing = PeerSender(engine, server, links)
    self.outgoing = outgoing
    relays = Relays { outgoing.send(.relay($0), to: $1) }
    questions = SessionPeerRequests { outgoing.send($0, to: $1) }
    finder = SessionFinder(engine, server, links, store, counts)
    state = Locked(State())
  }

  /// From now on the server is one of the cluster. Throws where the engine cannot be used.
  func begin(_ home: any Home, on loop: any EventLoop) async throws {
    state.withLock { state in
      state.home = home
      state.loop = loop
      state.lastTick = loop.nanoseconds
    }
    outgoing.begin(loop)
    await finder.begin(home)
    try await engine.join(
      as: server,
      ClusterHandlers(
        renewed: { [weak self] in self?.tellNow() },
        lost: { [weak self] in self?.wasDeclaredGone() },
        received: { [weak self] in self?.receive($0) },
        cutOff: { [weak self] in self?.mayHaveMissed() },
        bereft: { [weak self] in self?.keepAnew() }))
    tick()
  }

  /// It is none any more: nobody need wait for it.
  func end() async {
    state.withLock { state in
      state.isEnded = true
      state.timer?.cancel()
    }
    outgoing.tellAll(.presence(["left": true]))
    for (server, _) in others { drop(server) }
    await engine.leave()
  }

  /// The other servers that are there, with what they tell of themselves.
  package var others: [(server: String, presence: ValueObject)] { links.withLock { $0.present } }

  /// Another server that takes who comes here while this one ends; nil for none.
  var successor: String? {
    guard let now = loop?.nanoseconds else { return nil }
    return links.withLock { $0.successor(at: now) }
  }

  /// How many connections are relayed now: those of this server to sessions elsewhere, and those
  /// elsewhere to its sessions.
  package var relayCounts: (entrances: Int, owned: Int) { relays.counts }

  /// How many were relayed so far, and messages in both directions.
  package var relayTotals: (relays: Int, messages: Int) { relays.totals }

  /// For how long it may take its sessions for its own, unless it renews its lease.
  package var leaseLeft: Duration {
    let ends = engine.tenure.ends
    guard let now = loop?.nanoseconds, ends > now else { return .zero }
    return .nanoseconds(Int64(clamping: ends - now))
  }

  private var loop: (any EventLoop)? { state.withLock { $0.loop } }
  private var home: (any Home)? { state.withLock { $0.home } }

  /// Tells the others how it is: at once, or with what else there is to tell in a moment.
  func tell() {
    let isFirst = state.withLock { state in
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard isFirst, let loop else { return }
    _ = loop.schedule(after: Self.gathering) { [weak self] in
      self?.state.withLock { $0.isTelling = false }
      self?.tellNow()
    }
  }

  /// What this server tells of itself.
  func presence() async -> ValueObject { await home?.presence() ?? [:] }

  private func tellNow() {
    Task {
      var presence = await presence()
      presence["renewal"] = .integer(Int64(clamping: engine.renewal))
      outgoing.tellAll(.presence(.object(presence)))
    }
  }

  /// Asks another server. Fails as ``Questions/ask(_:_:within:on:progress:)``.
  func ask(
    _ server: String, _ question: Value, within time: Duration,
    progress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    guard let loop else { throw CallError(.unavailable, "The server has not begun") }
    counts.asked.add()
    return try await questions.ask(server, question, within: time, on: loop, progress: progress)
  }

  /// What another server has answered.
  struct Answered: Sendable {
    let server: String
    let answer: Result<Value, CallError>
  }

  /// Asks all other servers at once; what each has answered.
  func askOthers(_ question: Value, within time: Duration) async -> [Answered] {
    await withTaskGroup(of: Answered.self) { group in
      for (server, _) in others {
        group.addTask { await self.answered(server, question, within: time) }
      }
      var answers: [Answered] = []
      for await answer in group { answers.append(answer) }
      return answers.sorted { $0.server < $1.server }
    }
  }

  private func answered(
    _ server: String, _ question: Value, within time: Duration
  ) async -> Answered {
    do throws(CallError) {
      return Answered(
        server: server, answer: .success(try await ask(server, question, within: time)))
    } catch {
      return Answered(server: server, answer: .failure(error))
    }
  }

  private func tick() {
    guard let loop else { return }
    let now = loop.nanoseconds
    let isLate = state.withLock { state in
      defer { state.lastTick = now }
      return now - state.lastTick > PeerTable.freshness
    }
    let silent = links.withLock { links in
      if isLate { links.overslept(until: now) }
      return links.takeSilent(at: now)
    }
    for (server, presence) in silent {
      home?.left(server, presence, "it was silent for \(PeerTable.silence / 1_000_000_000) s")
      drop(server)
    }
    for server in links.withLock({ $0.takeUsed() }) {
      outgoing.send(.beat, to: server, isUse: false)
    }
    let timer = loop.schedule(after: Self.interval) { [weak self] in self?.tick() }
    state.withLock { $0.timer = $0.isEnded ? nil : timer }
  }

  /// What is between this server and another is over; that one may be there, or gone.
  private func drop(_ server: String) {
    relays.drop(server)
    questions.drop(server)
    home?.lost(server)
    settle(server)
  }

  /// Where another server is gone for certain, its sessions are taken over that nobody comes for.
  private func settle(_ server: String) {
    if state.withLock({ $0.isEnded || !$0.doubtful.insert(server).inserted }) { return }
    Task { [weak self] in
      while let self, !self.state.withLock({ $0.isEnded }) {
        let isBack = self.links.withLock { $0.presence(of: server) != nil }
        let isGone = isBack ? false : (try? await self.engine.isGone(server)) == true
        if isBack || isGone {
          if isGone {
            try? await Task.sleep(for: Self.orphanage)
            await self.adopt()
          }
          _ = self.state.withLock { $0.doubtful.remove(server) }
          return
        }
        try? await Task.sleep(for: .milliseconds(500))
      }
    }
  }

  /// Servers have sessions, as the store says, that were not heard of yet.
  func doubt(_ servers: some Sequence<String>) {
    for server in servers where server != self.server { settle(server) }
  }

  /// As the sessions of others are looked at for the first time.
  func doubtOthers() {
    // A server that has ended a moment ago is not known to be gone yet.
    Task { [weak self] in
      try? await Task.sleep(for: Self.orphanage * 3)
      await self?.adopt()
    }
  }

  /// Takes over what is nobody's, again and again until the engine lets it.
  private func adopt() async {
    while let home, let loop, !home.isAboutToEnd, !state.withLock({ $0.isEnded }) {
      // What a server takes that has no lease, others would take from it.
      guard !engine.tenure.isOver(at: loop.nanoseconds) else {
        try? await Task.sleep(for: .seconds(1))
        continue
      }
      do {
        return doubt(
          try await store.takeAll { [counts] stored in
            counts.takenAsOrphans.add()
            await home.take(up: stored, on: nil)
          })
      } catch {
        home.failed("the sessions of servers that are gone are not taken over yet: \(error)")
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Messages from any server may be missing.
  private func mayHaveMissed() {
    for (server, _) in others { breakOff(server, isTold: false) }
  }

  private func breakOff(_ server: String, isTold: Bool) {
    relays.drop(server)
    questions.drop(server)
    if !isTold { outgoing.send(.broken, to: server) }
  }

  /// What is kept of some sessions is gone, so it may be of others that nothing happens in.
  private func keepAnew() {
    let isFirst = state.withLock { state in
      defer { state.isKeepingAnew = true }
      return !state.isKeepingAnew
    }
    guard isFirst else { return }
    Task {
      await insist { try await $0.keepAnew() }
      state.withLock { $0.isKeepingAnew = false }
    }
  }

  private func wasDeclaredGone() {
    Task {
      guard let home else { return }
      await home.cutOff("another server has found this one gone, and may have its sessions")
      await insist { home in
        try await self.engine.rejoin()
        try await home.verify()
        self.tell()
      }
    }
  }

  /// Does something again and again until it succeeds, or the server ends.
  private func insist(_ work: (any Home) async throws -> Void) async {
    while let home, !state.withLock({ $0.isEnded }) {
      do { return try await work(home) } catch { try? await Task.sleep(for: .milliseconds(500)) }
    }
  }
}

// What comes.
extension ClusterNode {
  private func receive(_ bytes: [UInt8]) {
    let envelope: ClusterEnvelope
    do throws(ByteFault) {
      envelope = try ClusterEnvelope(bytes)
    } catch {
      // Whoever has sent it is of another version, or none of the cluster.
      counts.unreadable.add()
      return
    }
    guard envelope.sender != server, let loop else { return }
    if case .presence(let value) = envelope.message {
      return heard(value.object ?? [:], from: envelope.sender, at: loop.nanoseconds)
    }
    let isMissing = links.withLock {
      $0.received(envelope.number, from: envelope.sender, at: loop.nanoseconds)
    }
    if isMissing { breakOff(envelope.sender, isTold: false) }
    take(envelope.message, from: envelope.sender)
  }

  private func heard(_ presence: ValueObject, from sender: String, at now: UInt64) {
    if presence["left"] == true {
      let last = links.withLock { links in
        defer { links.remove(sender) }
        return links.presence(of: sender)
      }
      if let last { home?.left(sender, last, "it has ended") }
      return drop(sender)
    }
    engine.heard(sender, renewal: UInt64(clamping: presence["renewal"]?.integer ?? 0))
    let isNew = links.withLock { $0.heard(presence, from: sender, at: now) }
    home?.heard(presence, of: sender)
    // Who is new hears of this one at once.
    if isNew {
      home?.came(sender, presence)
      tell()
    }
  }

  private func take(_ message: ClusterMessage, from sender: String) {
    switch message {
    case .presence, .beat: break
    case .broken: breakOff(sender, isTold: true)
    case .question(let id, let question):
      questions.take(id, from: sender) { [weak self] progress throws(CallError) in
        guard let home = self?.home else { throw CallError(.unavailable, "The server ends") }
        return try await home.answer(question, progress)
      }
    case .progress(let id, let value):
      questions.heard(progress: value, of: id, from: sender)
    case .answer(let id, let value): questions.heard(answer: value, of: id, from: sender)
    case .cancel(let id): questions.cancel(id, from: sender)
    case .relay(let message):
      relays.take(message, from: sender) { home?.accept($0, $1) }
    case .piece(let bytes, let isLast):
      guard links.withLock({ $0.add(bytes, from: sender) }) else {
        return breakOff(sender, isTold: false)
      }
      guard isLast else { return }
      let whole = links.withLock { $0.takePieces(from: sender) }
      guard let message = try? ClusterMessage(ByteReader(whole)), !message.isPiece else {
        counts.unreadable.add()
        return
      }
      take(message, from: sender)
    }
  }
}
