import Synchronization
import TestSupport
import Testing
import WayTransport

@testable import WaySession

/// Both ends of a relay, connected in memory.
@Suite(.timeLimit(.minutes(1)))
struct RelayTests {
  private final class RelayedMessageReceiver: MessageReceiver {
    let texts = Mutex<[String]>([])
    let codes = Mutex<[UInt16?]>([])

    func receive(_ message: RawSpan, as kind: MessageKind) {
      let bytes = message.withUnsafeBytes { [UInt8]($0) }
      texts.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
    }

    func closed(_ code: UInt16?) { codes.withLock { $0.append(code) } }
  }

  /// An acceptor that connects through a relay's port.
  private struct RelayPortAcceptor: ChannelAcceptor {
    let makePort: @Sendable (any MessageChannel) -> RelayPort

    func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
      makePort(channel)
    }
  }

  /// References to both ends.
  private final class RelayEndpoints: Sendable {
    let port = Locked<RelayPort?>(nil)
    let channel = Locked<RelayChannel?>(nil)
    let endedCount = Locked(0)
  }

  private let loop = MemoryLoop()
  private let endpoints = RelayEndpoints()
  private let owner = RelayedMessageReceiver()
  private let client = RelayedMessageReceiver()
  private let connection: any MessageChannel

  init() {
    let (loop, ends) = (loop, endpoints)
    let channel = RelayChannel(
      loop, maxBacklog: 1 << 20, send: { content in ends.port.withLock { $0 }?.receive(content) },
      onEnd: { ends.endedCount.withLock { $0 += 1 } },
      onOpen: { [owner] channel, _ in channel.attach(owner) })
    ends.channel.withLock { $0 = channel }
    let entrance = RelayPortAcceptor { connection in
      let port = RelayPort(
        connection, since: 0, firstMessage: Array("hello".utf8),
        send: { content in ends.channel.withLock { $0 }?.receive(content) },
        onEnd: { ends.endedCount.withLock { $0 += 1 } })
      ends.port.withLock { $0 = port }
      return port
    }
    connection = MemoryChannel.connect(
      to: entrance, Handshake(), loop: loop, receiver: client)
    channel.receive(.open(RelayRequest(session: "s-1", handshake: Handshake())))
  }

  private var channel: RelayChannel {
    get throws { try #require(endpoints.channel.withLock { $0 }) }
  }

  private func sendFromClient(_ text: String) {
    let (loop, connection) = (loop, connection)
    loop.execute { connection.send(Array(text.utf8).span.bytes, as: .text) }
  }

  private func sendFromOwner(_ text: String) throws {
    let channel = try channel
    loop.execute { channel.send(Array(text.utf8).span.bytes, as: .text) }
  }

  @Test func relaysMessagesInOrderBothWays() async throws {
    for number in 0..<100 { sendFromClient("to \(number)") }
    await loop.settle()
    #expect(owner.texts.withLock { $0 } == ["hello"] + (0..<100).map { "to \($0)" })
    for number in 0..<100 { try sendFromOwner("from \(number)") }
    await loop.settle()
    #expect(client.texts.withLock { $0 } == (0..<100).map { "from \($0)" })
  }

  @Test func pausedOwnerReceivesAtMostOneWindow() async throws {
    let channel = try channel
    await loop.settle()
    loop.execute { channel.pause() }
    let text = String(repeating: "a", count: 16 << 10)
    for _ in 0..<64 { sendFromClient(text) }
    await loop.settle()
    #expect(owner.texts.withLock { $0.count } == 1)
    loop.execute { channel.resume() }
    await loop.settle()
    #expect(owner.texts.withLock { $0.count } == 65)
  }

  @Test func clientCloseReachesOwner() async throws {
    await loop.settle()
    loop.execute { [connection] in connection.close(.normal, "") }
    await loop.settle()
    #expect(owner.codes.withLock { $0 } == [1000])
    #expect(endpoints.endedCount.withLock { $0 } == 2)
  }

  @Test func ownerCloseReachesClient() async throws {
    let channel = try channel
    await loop.settle()
    loop.execute { channel.close(.drain, "the session moves") }
    await loop.settle()
    #expect(client.codes.withLock { $0 } == [4200])
    #expect(owner.codes.withLock { $0 } == [4200])
    try sendFromOwner("late")
    sendFromClient("late")
    await loop.settle()
    #expect(client.texts.withLock { $0.isEmpty })
    #expect(owner.texts.withLock { $0 } == ["hello"])
  }

  @Test func closesBeforeOwnerIsReady() async throws {
    loop.execute { [connection] in connection.close(.normal, "") }
    await loop.settle()
    #expect(owner.texts.withLock { $0.isEmpty } || owner.codes.withLock { $0 } == [1000])
    #expect(endpoints.endedCount.withLock { $0 } == 2)
  }

  @Test func closesRelayWhenBacklogIsFull() async throws {
    let loop = MemoryLoop()
    let channel = RelayChannel(
      loop, maxBacklog: 1 << 20, send: { _ in }, onEnd: {}, onOpen: { _, _ in })
    channel.attach(owner)
    let text = String(repeating: "a", count: 64 << 10)
    loop.execute { for _ in 0..<40 { channel.send(Array(text.utf8).span.bytes, as: .text) } }
    await loop.settle()
    #expect(owner.codes.withLock { $0 } == [CloseCode.slowConsumer.rawValue])
  }
}
