import TestSupport
import Testing
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Clients with tokens that connect to one server, while another owns their session.
@Suite(.timeLimit(.minutes(1)))
struct RelayedCredentialTests {
  private let entryEngine = StubClusterEngine()
  private let ownerEngine = StubClusterEngine()
  private let entry: InMemoryBridge
  private let owner: InMemoryBridge
  /// The tokens that the app of each server was asked to verify; nil for none.
  private let entryTokens = Locked<[String?]>([])
  private let ownerTokens = Locked<[String?]>([])
  /// The audit records of the owner.
  private let ownerRecords = Locked<[AuditRecord]>([])

  init() async throws {
    entry = try Self.bridge(entryEngine, entryTokens)
    var sink = EventSink()
    sink.audit = { [ownerRecords] record in ownerRecords.withLock { $0.append(record) } }
    owner = try Self.bridge(ownerEngine, ownerTokens, sink)
    for bridge in [entry, owner] { try await bridge.sessionServer.dispatch.restore() }
    entryEngine.linked.withLock { [ownerEngine] in $0 = ownerEngine }
    ownerEngine.linked.withLock { [entryEngine] in $0 = entryEngine }
    let entryName = try #require(entry.sessionServer.cluster?.server)
    let ownerName = try #require(owner.sessionServer.cluster?.server)
    entryEngine.owner.withLock { $0 = .server(ownerName) }
    entryEngine.receive(.presence([:]), from: ownerName)
    ownerEngine.receive(.presence([:]), from: entryName)
  }

  /// Tokens are `USER SECONDS`; the seconds count from the start of the test. A user may have two
  /// connections.
  private static func bridge(
    _ engine: StubClusterEngine, _ tokens: Locked<[String?]>, _ sink: EventSink = EventSink()
  ) throws -> InMemoryBridge {
    let router = Router()
    try router.register(
      Route(
        name: "staff", patterns: [try RoutePattern("action://staff")], kind: .task,
        permissions: ["staff"], handler: .task { _ in 1 }))
    var limits = Limits()
    limits.maxUserConnections = 2
    return InMemoryBridge(
      router, limits: limits, observer: sink,
      identify: { handshake in
        tokens.withLock { $0.append(handshake.token) }
        let words = (handshake.token ?? "").split(separator: " ")
        guard words.count == 2, let seconds = Int64(words[1]) else {
          throw CallError(code: 1, message: "no such token")
        }
        return Identity(user: String(words[0]), expires: InMemoryBridge.startTime + seconds * 1000)
      }, cluster: Cluster(engine))
  }

  /// Everything that the server with the connections has sent to the owner, as text.
  private var sentToOwner: String {
    entryEngine.sentMessages.withLock { messages in
      messages.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
    }
  }

  private func session() async throws -> (WireClient, Value) {
    let (anna, opened) = try await WireClient.open(owner, ["token": "anna 300"])
    return (anna, ["session": opened["session"] ?? .null, "token": opened["joinToken"] ?? .null])
  }

  @Test func ownerReceivesIdentityInsteadOfTokens() async throws {
    let (_, join) = try await session()
    let (ben, opened) = try await WireClient.open(entry, ["token": "ben 301", "join": join])
    #expect(opened["session"] == join["session"])
    #expect(opened["expiresAt"] == .integer(InMemoryBridge.startTime + 301_000))
    let renewed = try await ben.request("session.renew", ["token": "ben 902"])
    #expect(renewed["result"]?["expiresAt"] == .integer(InMemoryBridge.startTime + 902_000))
    #expect(try await ben.callStatus("session.renew", ["token": "anna 903"]) == "identity")
    #expect(try await ben.callStatus("session.renew", ["token": "wrong"]) == "2401")
    #expect(ownerTokens.withLock { $0 } == ["anna 300"])
    #expect(entryTokens.withLock { $0 } == ["ben 301", "ben 902", "anna 903", "wrong"])
    let sent = sentToOwner
    #expect(sent.contains("ben"))
    for token in ["ben 301", "ben 902", "anna 903", "wrong", join["token"]?.string ?? ""] {
      #expect(!sent.contains(token))
    }
  }

  @Test func rejectedTokenCanBeReplacedOnTheSameConnection() async throws {
    let (_, join) = try await session()
    let ben = try await WireClient.connect(to: entry, subprotocol: "waybridge.v1")
    func open(_ token: String, _ join: Value) async throws -> Value {
      try await ben.request(
        "session.open", ["protocol": ["1.0"], "token": .string(token), "join": join])
    }
    #expect(try await open("wrong", join)["error"]?["code"] == 2401)
    let wrongJoin: Value = ["session": join["session"] ?? .null, "token": "guessed"]
    #expect(try await open("ben 301", wrongJoin)["error"]?["code"] == 2401)
    #expect(try await open("ben 302", join)["result"]?["session"] == join["session"])
    #expect(!sentToOwner.contains("ben 30"))
  }

  @Test func clientWithoutTokenJoinsWithItsJoinToken() async throws {
    let (_, join) = try await session()
    let (_, opened) = try await WireClient.open(entry, ["join": join])
    #expect(opened["session"] == join["session"])
    #expect(entryTokens.withLock { $0.isEmpty })
  }

  @Test func digestDoesNotJoin() async throws {
    let (_, join) = try await session()
    let digest = ownerEngine.digest(
      of: join["token"]?.string ?? "", in: join["session"]?.string ?? "")
    let stolen: Value = ["session": join["session"] ?? .null, "token": .string(digest ?? "")]
    for bridge in [owner, entry] {
      let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
      let status = try await client.callStatus(
        "session.open", ["protocol": ["1.0"], "token": "ben 300", "join": stolen])
      #expect(status == "2401")
    }
  }

  @Test func digestInAnEscapedRequestDoesNotJoin() async throws {
    let (_, join) = try await session()
    let session = try #require(join["session"]?.string)
    let digest = try #require(ownerEngine.digest(of: join["token"]?.string ?? "", in: session))
    let ben = try await WireClient.connect(to: entry, subprotocol: "waybridge.v1")
    // The connection is relayed from now on, but the client has not joined.
    let wrong: Value = ["session": .string(session), "token": "guessed"]
    let first = try await ben.callStatus(
      "session.open", ["protocol": ["1.0"], "token": "ben 300", "join": wrong])
    #expect(first == "2401")
    try await ben.send(
      text: #"{"jsonrpc":"2.0","id":"escaped","method":"sess\u0069on.open","params":"#
        + #"{"protocol":["1.0"],"token":"ben 300","join":{"session":"\#(session)","token":"\#(digest)"}}}"#
    )
    #expect(try await ben.response("escaped")["error"]?["code"] == 2401)
  }

  @Test func resumesThroughAnotherServer() async throws {
    let (anna, opened) = try await WireClient.open(owner, ["token": "anna 300"])
    try await anna.close(.drain)
    let again = try await WireClient.connect(to: entry, subprotocol: "waybridge.v1")
    let resumed = try await again.resume(opened, ["open": ["token": "anna 905"]])
    #expect(resumed["resumed"] == true)
    #expect(entryTokens.withLock { $0 } == ["anna 905"])
    #expect(!sentToOwner.contains("anna 905"))
    let token = try #require(opened["resume"]?["token"]?.string ?? opened["token"]?.string)
    #expect(!sentToOwner.contains(token))
    let (other, _) = try await WireClient.open(owner, ["token": "ben 300"])
    #expect(try await other.hasNoPendingMessages())
  }

  /// The server that was asked first does not have the session any more. Each attempt of the client is
  /// a relay of its own, with new references, and its token is verified again.
  @Test func retriesAtTheNewOwner() async throws {
    let (_, join) = try await session()
    let formerEngine = StubClusterEngine(owner: nil)
    let formerTokens = Locked<[String?]>([])
    let former = try Self.bridge(formerEngine, formerTokens)
    try await former.sessionServer.dispatch.restore()
    let entryName = try #require(entry.sessionServer.cluster?.server)
    let formerName = try #require(former.sessionServer.cluster?.server)
    // Requests follow a presence at once: a lost one would end the relays.
    entryEngine.links.withLock { $0[formerName] = formerEngine }
    formerEngine.linked.withLock { [entryEngine] in $0 = entryEngine }
    formerEngine.receive(.presence([:]), from: entryName)
    entryEngine.receive(.presence([:]), from: formerName)
    let owner = entryEngine.owner.withLock { $0 }
    entryEngine.owner.withLock { $0 = .server(formerName) }
    let ben = try await WireClient.connect(to: entry, subprotocol: "waybridge.v1")
    let params: Value = ["protocol": ["1.0"], "token": "ben 301", "join": join]
    try await ben.call(1, "session.open", params)
    #expect(try await ben.nextCloseCode() == CloseCode.drain.rawValue)

    entryEngine.owner.withLock { $0 = owner }
    let again = try await WireClient.connect(to: entry, subprotocol: "waybridge.v1")
    try await again.call(1, "session.open", params)
    #expect(try await again.response(1)["result"]?["session"] == join["session"])
    #expect(entryTokens.withLock { $0 } == ["ben 301", "ben 301"])
    #expect(formerTokens.withLock { $0.isEmpty })
    for token in ["ben 301", join["token"]?.string ?? ""] { #expect(!sentToOwner.contains(token)) }
  }

  /// The reference of the handshake's token stands for each attempt on its connection.
  @Test func referenceExpiresWithItsToken() async throws {
    let (_, joining) = try await session()
    let ben = try await WireClient.connect(
      to: entry, subprotocol: "waybridge.v1", from: Handshake(token: "ben 3"))
    func join(_ token: Value) async throws -> Value {
      let join: Value = ["session": joining["session"] ?? .null, "token": token]
      return try await ben.request("session.open", ["protocol": ["1.0"], "join": join])
    }
    #expect(try await join("guessed")["error"]?["code"] == 2401)
    try await owner.server.advance(by: .seconds(4))
    let expired = try await join(joining["token"] ?? .null)
    #expect(expired["error"]?["message"] == "The token has expired")
    #expect(entryTokens.withLock { $0 } == ["ben 3"])
  }

  @Test func relayedConnectionsCountForTheirUser() async throws {
    let (_, join) = try await session()
    var clients: [WireClient] = []
    for _ in 1...2 {
      clients.append(try await WireClient.open(entry, ["token": "ben 300", "join": join]).client)
    }
    func open(_ bridge: InMemoryBridge, _ user: String) async throws -> Value? {
      let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
      clients.append(client)
      let params: Value = ["protocol": ["1.0"], "token": .string("\(user) 300"), "join": join]
      return try await client.request("session.open", params)["error"]?["code"]
    }
    #expect(try await open(entry, "ben") == 2503)
    #expect(try await open(owner, "ben") == 2503)
    #expect(try await open(entry, "cleo") == nil)
    #expect(owner.sessionServer.userQuotas.refused.connections == 2)
    try await clients[0].close()
    await owner.server.loop.settle()
    while try await open(entry, "ben") != nil { await Task.yield() }
  }

  @Test func refusalsOfRelayedClientsNameTheirUser() async throws {
    let (_, join) = try await session()
    let handshake = Handshake(origin: "https://a.example", address: "10.0.0.7")
    let (ben, opened) = try await WireClient.open(
      entry, ["token": "ben 300", "join": join], from: handshake)
    #expect(
      try await ben.callStatus("router.invoke", ["uri": "action://staff"]) == "permissions")
    #expect(try await ben.callStatus("session.renew", ["token": "anna 300"]) == "identity")
    let clients = ownerRecords.withLock { $0.map(\.client) }
    #expect(clients.count == 2)
    for client in clients {
      #expect(client?.user == "ben")
      #expect(client?.id == opened["client"]?.string)
      #expect(client?.address == "10.0.0.7")
      #expect(client?.origin == "https://a.example")
    }
  }
}
