import Synchronization
import WayTransport

/// The relays of one server, those of its connections to sessions elsewhere and those of connections
/// elsewhere to its sessions. May be used on any thread.
final class Relays: Sendable {
  /// How many connections of one other server may be relayed here.
  private static let maxFrom = 100_000

  private struct State {
    /// By their numbers.
    var ports: [UInt64: (port: RelayPort, owner: String)] = [:]
    /// By who has the connection, and its number there.
    var channels: [String: [UInt64: RelayChannel]] = [:]
    var last: UInt64 = 0
  }

  private let state = Locked(State())
  private let made = Atomic(0)
  private let carried = Atomic(0)
  private let send: @Sendable (RelayMessage, String) -> Void

  /// `send` takes what goes to another server.
  init(send: @escaping @Sendable (RelayMessage, _ server: String) -> Void) {
    self.send = send
  }

  /// How many there are now of each kind.
  var counts: (entrances: Int, owned: Int) {
    state.withLock { state in
      (state.ports.count, state.channels.values.reduce(0) { $0 + $1.count })
    }
  }

  /// How many connections were relayed so far, and messages in both directions.
  var totals: (relays: Int, messages: Int) {
    (made.load(ordering: .relaxed), carried.load(ordering: .relaxed))
  }

  /// From now on a connection, which came at `began`, is one of a session elsewhere, which gets
  /// `first` as what came on it. Call on the connection's loop.
  func open(
    _ channel: any MessageChannel, since began: UInt64, _ hello: RelayHello, at owner: String,
    first: [UInt8]
  ) {
    made.add(1, ordering: .relaxed)
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    let port = RelayPort(
      channel, since: began, first: first,
      send: { [weak self] content in
        self?.pass(RelayMessage(number: number, isToOwner: true, content: content), to: owner)
      },
      ended: { [weak self] in self?.forget(number) })
    state.withLock { $0.ports[number] = (port, owner) }
    channel.attach(port)
    pass(
      RelayMessage(number: number, isToOwner: true, content: .open(hello)), to: owner)
  }

  private func forget(_ number: UInt64) { state.withLock { $0.ports[number] = nil } }

  private func forget(_ number: UInt64, from server: String) {
    state.withLock { state in
      state.channels[server]?[number] = nil
      if state.channels[server]?.isEmpty == true { state.channels[server] = nil }
    }
  }

  private func pass(_ message: RelayMessage, to server: String) {
    if case .text = message.content { carried.add(1, ordering: .relaxed) }
    send(message, server)
  }

  /// Something has come from another server. `accept` takes a connection that begins, and gives its
  /// channel.
  func take(
    _ message: RelayMessage, from server: String,
    accept: (RelayHello, RelayEnd) -> RelayChannel?
  ) {
    if case .text = message.content { carried.add(1, ordering: .relaxed) }
    guard message.isToOwner else {
      state.withLock { $0.ports[message.number] }?.port.take(message.content)
      return
    }
    let number = message.number
    guard case .open(let hello) = message.content else {
      state.withLock { $0.channels[server]?[number] }?.take(message.content)
      return
    }
    let isFull = state.withLock { $0.channels[server, default: [:]].count >= Self.maxFrom }
    let end = RelayEnd(
      send: { [weak self] content in
        self?.pass(
          RelayMessage(number: number, isToOwner: false, content: content), to: server)
      },
      ended: { [weak self] in self?.forget(number, from: server) })
    guard !isFull else {
      return end.send(
        .close(CloseCode.drain.rawValue, "too many connections of one server are relayed"))
    }
    guard let channel = accept(hello, end) else {
      return end.send(.close(CloseCode.drain.rawValue, "the session is not there"))
    }
    state.withLock { $0.channels[server, default: [:]][number] = channel }
    channel.take(message.content)
  }

  /// Another server is gone, or messages are missing between the two: all relays with it end, and
  /// the clients resume.
  func drop(_ server: String) {
    let (ports, channels) = state.withLock { state in
      let ports = state.ports.values.filter { $0.owner == server }.map(\.port)
      return (ports, state.channels[server].map { Array($0.values) } ?? [])
    }
    for port in ports {
      port.take(
        .close(CloseCode.drain.rawValue, "the server that has the session cannot be reached"))
    }
    for channel in channels { channel.take(.close(nil, "")) }
  }
}

/// What the owner's end of a relay is given.
struct RelayEnd: Sendable {
  let send: @Sendable (RelayMessage.Content) -> Void
  let ended: @Sendable () -> Void
}
