import Synchronization
import WayRouting
import WayTransport
import WayValues

/// The relays of one server: those of its connections to sessions of other servers, and those of
/// connections of other servers to its sessions. May be used on any thread.
final class Relays: Sendable {
  /// How many connections of one other server may be relayed here.
  private static let maxPerServer = 100_000

  private struct RelayState {
    /// Ports by the numbers of their relays.
    var ports: [UInt64: (port: RelayPort, owner: String)] = [:]
    /// Channels by the server that has the connection, and by the relay's number there.
    var channels: [String: [UInt64: RelayChannel]] = [:]
    var lastNumber: UInt64 = 0
  }

  private let state = Locked(RelayState())
  private let openedCount = Atomic(0)
  private let messageCount = Atomic(0)
  private let send: @Sendable (RelayMessage, String) -> Void

  /// `send` sends a message to another server.
  init(send: @escaping @Sendable (RelayMessage, _ server: String) -> Void) {
    self.send = send
  }

  /// The connections here whose session another server owns, and those of other servers whose
  /// session is here.
  var counts: (accepted: Int, owned: Int) {
    state.withLock { state in
      (state.ports.count, state.channels.values.reduce(0) { $0 + $1.count })
    }
  }

  /// How many connections were relayed so far, and how many messages in both directions.
  var totals: (relays: Int, messages: Int) {
    (openedCount.load(ordering: .relaxed), messageCount.load(ordering: .relaxed))
  }

  /// Relays a connection, which was accepted at `began`, to a session of the server `owner`. The
  /// session receives `first` as its first message, which has no tokens. `verify` and `tokens` are
  /// for those of later messages (``RelayPort``). Call on the connection's loop.
  func open(
    _ channel: any MessageChannel, since began: UInt64, _ request: RelayRequest, at owner: String,
    first: [UInt8], tokens: RelayedTokens,
    verify: (@Sendable (String) async -> Result<Identity, CallError>)?
  ) {
    openedCount.add(1, ordering: .relaxed)
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let port = RelayPort(
      channel, since: began, firstMessage: first, tokens: tokens, verify: verify,
      send: { [weak self] content in
        self?.forward(RelayMessage(number: number, isToOwner: true, content: content), to: owner)
      },
      onEnd: { [weak self] in self?.remove(number) })
    state.withLock { $0.ports[number] = (port, owner) }
    channel.attach(port)
    forward(
      RelayMessage(number: number, isToOwner: true, content: .open(request)), to: owner)
  }

  private func remove(_ number: UInt64) { state.withLock { $0.ports[number] = nil } }

  private func remove(_ number: UInt64, from server: String) {
    state.withLock { state in
      state.channels[server]?[number] = nil
      if state.channels[server]?.isEmpty == true { state.channels[server] = nil }
    }
  }

  private func forward(_ message: RelayMessage, to server: String) {
    if case .text = message.content { messageCount.add(1, ordering: .relaxed) }
    send(message, server)
  }

  /// Receives a message of another server. `accept` accepts a new connection and returns its
  /// channel.
  func receive(
    _ message: RelayMessage, from server: String,
    accept: (RelayRequest, RelayOutput) -> RelayChannel?
  ) {
    if case .text = message.content { messageCount.add(1, ordering: .relaxed) }
    guard message.isToOwner else {
      state.withLock { $0.ports[message.number] }?.port.receive(message.content)
      return
    }
    let number = message.number
    guard case .open(let request) = message.content else {
      state.withLock { $0.channels[server]?[number] }?.receive(message.content)
      return
    }
    let isFull = state.withLock { $0.channels[server, default: [:]].count >= Self.maxPerServer }
    let output = RelayOutput(
      send: { [weak self] content in
        self?.forward(
          RelayMessage(number: number, isToOwner: false, content: content), to: server)
      },
      onEnd: { [weak self] in self?.remove(number, from: server) })
    guard !isFull else {
      return output.send(
        .close(CloseCode.drain.rawValue, "too many connections of one server are relayed"))
    }
    guard let channel = accept(request, output) else {
      return output.send(.close(CloseCode.drain.rawValue, "the session is not on this server"))
    }
    state.withLock { $0.channels[server, default: [:]][number] = channel }
    channel.receive(message.content)
  }

  /// Ends all relays with another server that is down, or if messages between the two are missing.
  /// The clients resume.
  func drop(_ server: String) {
    let (ports, channels) = state.withLock { state in
      let ports = state.ports.values.filter { $0.owner == server }.map(\.port)
      return (ports, state.channels[server].map { Array($0.values) } ?? [])
    }
    for port in ports {
      port.receive(
        .close(CloseCode.drain.rawValue, "the server that has the session cannot be reached"))
    }
    for channel in channels { channel.receive(.close(nil, "")) }
  }
}

/// What a ``RelayChannel`` calls to send messages and to report its end.
struct RelayOutput: Sendable {
  let send: @Sendable (RelayMessage.RelayContent) -> Void
  let onEnd: @Sendable () -> Void
}
