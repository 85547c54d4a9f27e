import Synchronization
import TestSupport
import Testing
import WayTransport

@testable import WaySession

/// Both ends of a relay, with nothing but memory between them.
@Suite(.timeLimit(.minutes(1)))
struct RelayTests {
  private final class Receiver: MessageReceiver {
    let texts = Mutex<[String]>([])
    let codes = Mutex<[UInt16?]>([])

    func receive(_ message: RawSpan, as kind: MessageKind) {
      let bytes = message.withUnsafeBytes { [UInt8]($0) }
      texts.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
    }

    func closed(_ code: UInt16?) { codes.withLock { $0.append(code) } }
  }

  /// One that accepts a connection with the port of a relay.
  private struct Entrance: ChannelAcceptor {
    let make: @Sendable (any MessageChannel) -> RelayPort

    func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
      make(channel)
    }
  }

  /// What refers to the other end.
  private final class Ends: Sendable {
    let port = Locked<RelayPort?>(nil)
    let channel = Locked<RelayChannel?>(nil)
    let ended = Locked(0)
  }

  private let loop = MemoryLoop()
  private let ends = Ends()
  private let owner = Receiver()
  private let client = Receiver()
  private let connection: any MessageChannel

  init() {
    let (loop, ends) = (loop, ends)
    let channel = RelayChannel(
      loop, maxBacklog: 1 << 20, send: { content in ends.port.withLock { $0 }?.take(content) },
      ended: { ends.ended.withLock { $0 += 1 } },
      begun: { [owner] channel, _ in channel.attach(owner) })
    ends.channel.withLock { $0 = channel }
    let entrance = Entrance { connection in
      let port = RelayPort(
        connection, since: 0, first: Array("hello".utf8),
        send: { content in ends.channel.withLock { $0 }?.take(content) },
        ended: { ends.ended.withLock { $0 += 1 } })
      ends.port.withLock { $0 = port }
      return port
    }
    connection = MemoryChannel.connect(
      to: entrance, Handshake(), loop: loop, receiver: client)
    channel.take(.open(RelayHello(session: "s-1", handshake: Handshake())))
  }

  private var channel: RelayChannel {
    get throws { try #require(ends.channel.withLock { $0 }) }
  }

  private func send(_ text: String) {
    let (loop, connection) = (loop, connection)
    loop.execute { connection.send(Array(text.utf8).span.bytes, as: .text) }
  }

  private func answer(_ text: String) throws {
    let channel = try channel
    loop.execute { channel.send(Array(text.utf8).span.bytes, as: .text) }
  }

  @Test func messagesPassInOrderBothWays() async throws {
    for number in 0..<100 { send("to \(number)") }
    await loop.settle()
    #expect(owner.texts.withLock { $0 } == ["hello"] + (0..<100).map { "to \($0)" })
    for number in 0..<100 { try answer("from \(number)") }
    await loop.settle()
    #expect(client.texts.withLock { $0 } == (0..<100).map { "from \($0)" })
  }

  @Test func anOwnerThatPausesIsSentNoMoreThanAWindow() async throws {
    let channel = try channel
    await loop.settle()
    loop.execute { channel.pause() }
    let text = String(repeating: "a", count: 16 << 10)
    for _ in 0..<64 { send(text) }
    await loop.settle()
    #expect(owner.texts.withLock { $0.count } == 1)
    loop.execute { channel.resume() }
    await loop.settle()
    #expect(owner.texts.withLock { $0.count } == 65)
  }

  @Test func whoeverEndsItTellsTheOtherTheCode() async throws {
    await loop.settle()
    loop.execute { [connection] in connection.close(.normal, "") }
    await loop.settle()
    #expect(owner.codes.withLock { $0 } == [1000])
    #expect(ends.ended.withLock { $0 } == 2)
  }

  @Test func anOwnerEndsTheConnection() async throws {
    let channel = try channel
    await loop.settle()
    loop.execute { channel.close(.drain, "the session moves") }
    await loop.settle()
    #expect(client.codes.withLock { $0 } == [4200])
    #expect(owner.codes.withLock { $0 } == [4200])
    try answer("late")
    send("late")
    await loop.settle()
    #expect(client.texts.withLock { $0.isEmpty })
    #expect(owner.texts.withLock { $0 } == ["hello"])
  }

  @Test func whoIsGoneBeforeTheOwnerIsReadySaysNothing() async throws {
    loop.execute { [connection] in connection.close(.normal, "") }
    await loop.settle()
    #expect(owner.texts.withLock { $0.isEmpty } || owner.codes.withLock { $0 } == [1000])
    #expect(ends.ended.withLock { $0 } == 2)
  }

  @Test func tooMuchThatNobodyTakesEndsIt() async throws {
    let loop = MemoryLoop()
    let channel = RelayChannel(
      loop, maxBacklog: 1 << 20, send: { _ in }, ended: {}, begun: { _, _ in })
    channel.attach(owner)
    let text = String(repeating: "a", count: 64 << 10)
    loop.execute { for _ in 0..<40 { channel.send(Array(text.utf8).span.bytes, as: .text) } }
    await loop.settle()
    #expect(owner.codes.withLock { $0 } == [CloseCode.slowConsumer.rawValue])
  }
}
