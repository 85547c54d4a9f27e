import Synchronization
import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

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
  /// The tokens whose verification has ended, and whether it was cancelled.
  private let verified = Locked<[(token: String, isCancelled: Bool)]>([])
  private let verificationStarted = Mailbox<String>()

  init() {
    let (loop, ends) = (loop, endpoints)
    let channel = RelayChannel(
      loop, maxBacklog: 1 << 20, send: { content in ends.port.withLock { $0 }?.receive(content) },
      onEnd: { ends.endedCount.withLock { $0 += 1 } },
      onOpen: { [owner] channel, _ in channel.attach(owner) })
    ends.channel.withLock { $0 = channel }
    // Authenticates a client as the user that its token names. The token "endless" is verified until
    // the verification is cancelled.
    let verify = {
      @Sendable [verified, verificationStarted] (token: String) async
        -> Result<Identity, CallError> in
      verificationStarted.put(token)
      while token == "endless", !Task.isCancelled { await Task.yield() }
      verified.withLock { $0.append((token, Task.isCancelled)) }
      return token.hasPrefix("user ")
        ? .success(Identity(user: String(token.dropFirst(5))))
        : .failure(CallError(.notAuthenticated, "wrong"))
    }
    let entrance = RelayPortAcceptor { connection in
      let port = RelayPort(
        connection, since: 0, firstMessage: Array("hello".utf8),
        tokens: RelayedTokens { "digest of \($0) for \($1)" }, verify: verify,
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

  @Test(arguments: ["user anna", "other"])
  func tokensOfTheClientDoNotReachTheOwner(_ token: String) async throws {
    await loop.settle()
    sendFromClient(#"{"method":"session.renew","params":{"token":"\#(token)"},"id":1,"seq":2}"#)
    for number in 0..<5 { sendFromClient("later \(number)") }
    while owner.texts.withLock({ $0.count }) < 7 { await loop.settle() }
    let texts = owner.texts.withLock { $0 }
    #expect(texts[1].contains(#""token":"token-1""#) && texts[1].contains(#""seq":2"#))
    #expect(!texts.joined().contains(token))
    #expect(texts.suffix(5) == (0..<5).map { "later \($0)" }[...])
    let channel = try channel
    let identity = Result { () throws(CallError) in try channel.identity(for: "token-1", at: 0) }
    #expect((try? identity.get().user) == (token == "other" ? nil : "anna"))
    #expect(throws: CallError.self) { try channel.identity(for: "token-2", at: 0) }
  }

  private static func renewals(_ tokens: [String]) -> String {
    let requests = tokens.map {
      #"{"method":"sess\u0069on.renew","params":{"token":"\#($0)"},"id":1}"#
    }
    return "[\(requests.joined(separator: ","))]"
  }

  @Test func referenceOfAnEarlierTokenIsATokenToVerify() async throws {
    await loop.settle()
    sendFromClient(Self.renewals(["user anna"]))
    sendFromClient(Self.renewals(["token-1"]))
    while owner.texts.withLock({ $0.count }) < 3 { await loop.settle() }
    #expect(verified.withLock { $0.map(\.token) } == ["user anna", "token-1"])
    let last = owner.texts.withLock { $0[2] }
    #expect(last.contains("token-2") && !last.contains("token-1"))
    let channel = try channel
    #expect(throws: CallError.self) { try channel.identity(for: "token-2", at: 0) }
  }

  @Test func tooManyRejectedTokensCloseTheConnection() async throws {
    await loop.settle()
    sendFromClient(Self.renewals(Array(repeating: "wrong", count: 9) + ["user anna"]))
    while client.codes.withLock({ $0.isEmpty }) { await loop.settle() }
    #expect(client.codes.withLock { $0 } == [CloseCode.tooMany.rawValue])
    // Only the first eight were verified.
    #expect(verified.withLock { $0.map(\.token) } == Array(repeating: "wrong", count: 8))
    await loop.settle()
    #expect(owner.texts.withLock { $0 } == ["hello"])
    #expect(owner.codes.withLock { $0 } == [CloseCode.tooMany.rawValue])
    #expect(endpoints.endedCount.withLock { $0 } == 2)
  }

  @Test func rejectedTokensOfAllMessagesCount() async throws {
    await loop.settle()
    for _ in 0..<9 { sendFromClient(Self.renewals(["wrong"])) }
    while owner.texts.withLock({ $0.count }) < 10 { await loop.settle() }
    #expect(client.codes.withLock { $0.isEmpty })
    sendFromClient(Self.renewals(["wrong"]))
    while client.codes.withLock({ $0.isEmpty }) { await loop.settle() }
    #expect(client.codes.withLock { $0 } == [CloseCode.tooMany.rawValue])
    #expect(owner.texts.withLock { $0.count } == 10)
  }

  @Test func verificationEndsWithTheConnection() async throws {
    await loop.settle()
    sendFromClient(Self.renewals(["endless", "user anna"]))
    #expect(try await verificationStarted.receive() == "endless")
    loop.execute { [connection] in connection.close(.normal, "") }
    while verified.withLock({ $0.isEmpty }) { await loop.settle() }
    #expect(verified.withLock { $0.first?.isCancelled } == true)
    await loop.settle()
    #expect(verified.withLock { $0.count } == 1)
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
