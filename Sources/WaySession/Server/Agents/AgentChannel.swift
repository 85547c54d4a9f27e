import WayRPC
import WayRouting
import WayTransport
import WayValues

/// A channel whose client has an identity already, so that its token is not verified again.
protocol IdentifiedChannel: MessageChannel {
  /// Returns the identity of the client. `reference` is the token in the client's message, or what it
  /// contains instead; nil for no token. Throws 2401 if the identity has expired by `now`, in
  /// milliseconds since 1970-01-01 UTC, and the error with which the token was rejected.
  func identity(for reference: String?, at now: Int64) throws(CallError) -> Identity
}

extension RelayChannel: IdentifiedChannel {}

/// Receives what the server sends on an ``AgentChannel``. Called on the channel's loop.
protocol AgentChannelClient: AnyObject, Sendable {
  func receive(_ content: FrameContent)
  func closed(_ code: CloseCode, _ reason: String)
}

/// A connection inside the process, whose client is an agent's call. Confined to its loop.
final class AgentChannel: IdentifiedChannel, @unchecked Sendable {
  let id: UInt64
  let loop: any EventLoop
  private let identity: Identity
  private let decoder: MessageDecoder
  /// Nil after the end.
  private var client: (any AgentChannelClient)?
  private var receiver: (any MessageReceiver)?
  /// Messages of the client that the server has yet to receive.
  private var pendingMessages: [[UInt8]] = []
  private var isPaused = false
  private var hasEnded = false
  /// The channel that this one has become on another loop.
  private var successor: AgentChannel?

  init(
    _ loop: any EventLoop, _ identity: Identity, _ decoder: MessageDecoder,
    client: any AgentChannelClient, id: UInt64 = ChannelIDs.make()
  ) {
    self.id = id
    self.loop = loop
    self.identity = identity
    self.decoder = decoder
    self.client = client
  }

  var bufferedBytes: Int { 0 }

  func identity(for reference: String?, at now: Int64) throws(CallError) -> Identity {
    guard identity.expires.map({ $0 > now }) ?? true else {
      throw CallError(.notAuthenticated, "The identity has expired")
    }
    return identity
  }

  func attach(_ receiver: any MessageReceiver) { if !hasEnded { self.receiver = receiver } }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard !hasEnded, kind == .text else { return }
    let content = decoder.decode(message)
    loop.execute { [self] in client?.receive(content) }
  }

  func pause() { isPaused = true }

  func resume() {
    isPaused = false
    deliverLater()
  }

  func close(_ code: CloseCode, _ reason: String) {
    guard !hasEnded else { return }
    loop.execute { [self, client] in
      client?.closed(code, reason)
      end(code)
    }
    hasEnded = true
    client = nil
  }

  func move(
    to loop: any EventLoop, _ onMoved: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool {
    guard !hasEnded, let client else { return false }
    let moved = AgentChannel(loop, identity, decoder, client: client, id: id)
    moved.pendingMessages = pendingMessages
    successor = moved
    (self.client, receiver, pendingMessages, hasEnded) = (nil, nil, [], true)
    loop.execute {
      onMoved(moved)
      moved.deliver()
    }
    return true
  }
}

// The end of the client. All methods may be called from any thread.
extension AgentChannel {
  /// Sends a message to the server.
  func sendFromClient(_ message: [UInt8]) {
    loop.execute { [self] in
      if let successor { return successor.sendFromClient(message) }
      guard !hasEnded else { return }
      pendingMessages.append(message)
      deliver()
    }
  }

  /// Closes the connection: the client leaves its session, which stops its calls.
  func closeFromClient() {
    loop.execute { [self] in
      if let successor { return successor.closeFromClient() }
      guard !hasEnded else { return }
      (hasEnded, client) = (true, nil)
      end(.normal)
    }
  }

  private func deliverLater() { loop.execute { [self] in deliver() } }

  private func deliver() {
    while !isPaused, let receiver, !pendingMessages.isEmpty {
      let message = pendingMessages.removeFirst()
      receiver.receive(message.span.bytes, as: .text)
    }
  }

  private func end(_ code: CloseCode) {
    let receiver = receiver
    (self.receiver, pendingMessages) = (nil, [])
    receiver?.closed(code.rawValue)
  }
}
