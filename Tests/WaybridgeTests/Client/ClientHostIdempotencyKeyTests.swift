import Synchronization
import TestSupport
import Testing
import WayTransport
import Waybridge

@testable import WaybridgeClient

/// Work of hosts that runs once for an idempotency key.
@Suite(.timeLimit(.minutes(1)))
struct HostIdempotencyKeyTests {
  /// The time of the keys, in nanoseconds.
  private final class ManualClock: Sendable {
    private let time = Mutex<UInt64>(0)
    var nanoseconds: UInt64 { time.withLock { $0 } }
    func advance(seconds: UInt64) { time.withLock { $0 += seconds * 1_000_000_000 } }
  }

  /// Work that counts its runs.
  private final class CountedWork: Sendable {
    private let runs = Mutex(0)
    var count: Int { runs.withLock { $0 } }

    func run(_ value: Value = .null) -> Value {
      runs.withLock { $0 += 1 }
      return value
    }
  }

  private let clock = ManualClock()
  private let keys: ClientHostIdempotencyKeys
  /// Runs the requests, so that a test knows when they wait.
  private let loop = MemoryLoop()

  init() {
    keys = ClientHostIdempotencyKeys(on: nil) { [clock] in clock.nanoseconds }
  }

  private func key(
    _ text: String, _ content: Value = nil, of caller: BridgeClient.CallerDescription? = nil,
    in session: String? = nil
  ) -> ClientHostIdempotencyKey {
    ClientHostIdempotencyKey(text, content, of: caller, in: session)
  }

  /// Runs work that returns a value at once; returns the result for the key.
  private func result(_ name: String, of value: Value) async throws -> Value {
    try await keys.run(key(name)) { value }
  }

  /// Starts a request; returns when it waits.
  private func startRequest(
    _ name: String, _ work: @escaping @Sendable () async throws -> Value
  ) async -> Task<Value, any Error> {
    let request = Task(executorPreference: loop) { [keys] in
      try await keys.run(ClientHostIdempotencyKey(name, .null, of: nil, in: nil), work)
    }
    await loop.settle()
    return request
  }

  @Test func requestsWithOneKeyShareOneRun() async throws {
    let (work, release) = (CountedWork(), Mailbox<Value>())
    var requests: [Task<Value, any Error>] = []
    for _ in 0..<5 {
      requests.append(await startRequest("k") { work.run(try await release.receive()) })
    }
    release.put("done")
    for request in requests { #expect(try await request.value == "done") }
    #expect(try await result("k", of: "again") == "done")
    #expect(work.count == 1)
    #expect(try await result("other", of: "again") == "again")
  }

  @Test func requestsWithOneKeyShareTheError() async throws {
    let work = CountedWork()
    for _ in 0..<3 {
      await #expect(throws: CallError(code: 7, message: "no")) {
        try await keys.run(key("k")) {
          _ = work.run()
          throw CallError(code: 7, message: "no")
        }
      }
    }
    #expect(work.count == 1)
  }

  @Test func declinedCallMayRunAgain() async throws {
    await #expect(throws: Declined.self) { try await keys.run(key("k")) { throw Declined() } }
    #expect(try await result("k", of: "next host") == "next host")
  }

  @Test func resultIsStoredForTenMinutes() async throws {
    #expect(try await result("k", of: 1) == 1)
    clock.advance(seconds: 599)
    #expect(try await result("k", of: 2) == 1)
    clock.advance(seconds: 1)
    #expect(try await result("k", of: 3) == 3)
  }

  @Test func storesTheLatest256Results() async throws {
    for number in 0..<257 {
      _ = try await result("k\(number)", of: .integer(Int64(number)))
    }
    #expect(try await result("k1", of: "again") == 1)
    #expect(try await result("k0", of: "again") == "again")
  }

  @Test func storesAboutOneMebibyte() async throws {
    let large = Value.string(String(repeating: "x", count: 400_000))
    for name in ["a", "b", "c"] { _ = try await result(name, of: large) }
    #expect(try await result("c", of: "again") == large)
    #expect(try await result("b", of: "again") == large)
    #expect(try await result("a", of: "again") == "again")
  }

  @Test func workWithATooLargeResultDoesNotRunAgain() async throws {
    let large = Value.string(String(repeating: "x", count: 1 << 20))
    #expect(try await result("k", of: large) == large)
    let error = await #expect(throws: CallError.self) { try await result("k", of: "again") }
    #expect(error?.protocolCode == .tooLarge)
  }

  /// Work that waits for the test or its cancellation.
  private struct CancellableWork: Sendable {
    let release = Mailbox<Value>()
    let cancelled = Mailbox<Void>()

    func run() async throws -> Value {
      try await withTaskCancellationHandler {
        try await release.receive()
      } onCancel: {
        cancelled.put(())
      }
    }
  }

  @Test func workIsCancelledWithItsLastRequest() async throws {
    let work = CancellableWork()
    let first = await startRequest("k") { try await work.run() }
    let second = await startRequest("k") { "again" }
    first.cancel()
    #expect(await work.cancelled.next(within: .zero) == nil)
    second.cancel()
    try await work.cancelled.receive()
    for request in [first, second] {
      await #expect(throws: (any Error).self) { try await request.value }
    }
  }

  @Test func workOfACancelledRequestContinuesForAnother() async throws {
    let work = CancellableWork()
    let first = await startRequest("k") { try await work.run() }
    let second = await startRequest("k") { "again" }
    first.cancel()
    work.release.put("done")
    #expect(try await second.value == "done")
  }

  @Test func detachedWorkContinuesForTheNextRequest() async throws {
    let work = CancellableWork()
    let first = await startRequest("k") { try await work.run() }
    keys.detachRunningWork()
    first.cancel()
    let next = await startRequest("k") { "again" }
    work.release.put("done")
    #expect(try await next.value == "done")
    #expect(await work.cancelled.next(within: .zero) == nil)
  }

  /// Callers that do not share their keys.
  private static let callers: [BridgeClient.CallerDescription] = [
    .init(session: "own"), .init(session: "own", user: "ann"), .init(session: "own", user: "ben"),
    .init(session: "other"),
    .init(session: "own", client: .init(id: "c1", page: "p1"), isGuest: true),
    .init(session: "own", client: .init(id: "c1"), isGuest: true),
    .init(session: "own", client: .init(id: "c2", page: "p2"), isGuest: true),
    .init(session: "other", client: .init(id: "c1", page: "p1"), isGuest: true),
  ]

  @Test func callersThatDoNotShareKeysHaveTheirOwn() {
    for (number, caller) in Self.callers.enumerated() {
      for (otherNumber, other) in Self.callers.enumerated() {
        let (one, another) = (key("k", of: caller, in: "own"), key("k", of: other, in: "own"))
        #expect(one.isSameCall(as: another) == (number == otherNumber), "\(caller), \(other)")
      }
    }
    #expect(!key("é").isSameCall(as: key("e\u{301}")))
  }

  @Test func guestThatHasLoadedItsPageAgainHasTheSameKeys() {
    let clients = ["c1", "c9"].map {
      BridgeClient.CallerDescription.ClientDescription(id: $0, page: "p")
    }
    let keys = clients.map {
      key("k", of: .init(session: "own", client: $0, isGuest: true), in: "own")
    }
    #expect(keys[0].isSameCall(as: keys[1]))
  }

  @Test func keyDecidesInASessionAndTheContentTooAcrossSessions() {
    func ownKey(_ content: Value, _ session: String) -> ClientHostIdempotencyKey {
      key("k", content, of: .init(session: session, user: "ann"), in: session)
    }
    #expect(ownKey("pay 1", "s1").isSameCall(as: ownKey("pay 2", "s1")))
    #expect(ownKey("pay 1", "s1").isSameCall(as: ownKey("pay 1", "s2")))
    #expect(!ownKey("pay 1", "s1").isSameCall(as: ownKey("pay 2", "s2")))
    #expect(!ownKey("pay 1", "s1").isSameCall(as: key("k", "pay 1", of: .init(session: "s2"))))
  }
}

/// The idempotency key of a call at a handler of the Swift client.
@Suite(.timeLimit(.minutes(1)))
struct HandlerKeyTests {
  private let server = ScriptedServer()

  private func request(_ id: Value, _ method: String, _ params: ValueObject) async throws -> Value {
    var members = params
    members["caller"] = ["session": "s", "client": ["id": "c2"]]
    try await server.send([
      "jsonrpc": "2.0", "id": id, "method": .string(method), "params": .object(members),
    ])
    return try await server.next()
  }

  @Test func taskRunsOnceForItsKey() async throws {
    let runs = Mailbox<String?>()
    let client = try await server.openClient(
      .init(
        name: "test", version: "1",
        hosts: [
          .task("action://pay") { call in
            try await call.once {
              runs.put(call.key)
              return call.params["n"] ?? nil
            }
          }
        ]))
    func run(_ id: Int64, _ key: String?) async throws -> Value? {
      var params: ValueObject = ["uri": "action://pay", "params": ["n": .integer(id)]]
      params["key"] = key.map(Value.string)
      return try await request(.integer(id), "task.run", params)["result"]
    }
    #expect(try await run(1, "k") == 1)
    #expect(try await run(2, "k") == 1)
    #expect(try await run(3, "other") == 3)
    #expect(try await run(4, nil) == 4)
    #expect(try await run(5, nil) == 5)
    for key in ["k", "other", nil, nil] as [String?] { #expect(try await runs.receive() == key) }
    await client.close()
  }

  @Test func methodOfAPageRunsOnceForItsKey() async throws {
    var options = BridgeClient.SessionOptions(
      name: "page", version: "1", join: .init(session: "s", token: "j"), page: "own")
    let runs = Mailbox<String?>()
    options.methods["count"] = { call in
      try await call.once {
        runs.put(call.key)
        return call.params
      }
    }
    let client = try await server.openClient(options)
    for (id, key) in [(1, "k"), (2, "k"), (3, nil)] as [(Int64, String?)] {
      var params: ValueObject = [
        "page": "own", "method": "count", "params": ["n": .integer(id)],
      ]
      params["key"] = key.map(Value.string)
      let response = try await request(.integer(id), "page.call", params)
      #expect(response["result"]?["n"] == .integer(id == 2 ? 1 : id))
    }
    for key in ["k", nil] as [String?] { #expect(try await runs.receive() == key) }
    await client.close()
  }

  @Test func keyedWorkOfALostSessionContinuesInTheNextOne() async throws {
    let (running, release) = (Mailbox<Int64>(), Mailbox<Value>())
    let client = try await server.openClient(
      .init(
        name: "test", version: "1",
        hosts: [
          .task("action://pay") { call in
            try await call.once {
              running.put(call.params["n"]?.integer ?? 0)
              return try await release.receive()
            }
          }
        ]), canResume: true)
    func requestPayment(session: Value) async throws {
      try await server.send([
        "jsonrpc": "2.0", "seq": 1, "id": 1, "method": "task.run",
        "params": [
          "uri": "action://pay", "params": ["n": 7], "key": "k", "caller": ["session": session],
        ],
      ])
    }
    try await requestPayment(session: "s")
    #expect(try await running.receive() == 7)
    try await server.close(.noPong)
    try await server.respond(
      try await server.next(),
      [
        "resumed": false, "reason": "unknown", "session": "s2", "client": "c2", "token": "t",
        "capabilities": ["resume"],
      ])
    try await requestPayment(session: "s2")
    await server.loop.settle()
    release.put("paid")
    #expect(try await server.next()["result"] == "paid")
    #expect(await running.next(within: .zero) == nil)
    await client.close()
  }

  @Test func handlerCanBeTestedWithAKey() async throws {
    let runs = Mailbox<Void>()
    let call = BridgeClient.TaskCall(uri: "action://pay", key: "k")
    #expect(call.key == "k")
    for _ in 0..<2 {
      let value = try await call.once {
        runs.put(())
        return "paid"
      }
      #expect(value == "paid")
    }
    try await runs.receive()
    #expect(await runs.next(within: .zero) == nil)
    #expect(BridgeClient.MethodCall(method: "m", key: "k").key == "k")
    #expect(BridgeClient.MethodCall(method: "m").key == nil)
  }
}
