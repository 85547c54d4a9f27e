import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Decisions about requests under idempotency keys, without a session.
struct SessionIdempotencyKeysTests {
  private static let budget = ByteBudget(.server, 1 << 20)
  private static let name = ScopedKey(owner: nil, text: "k")
  private static let request = IdempotentRequest(
    method: "router.invoke", target: "a:1", params: ["n": 1])
  private static let operation = CallOperation.route(
    .invoke, uri: "a:1", SessionCallOptions(rights: .app))

  private var keys = SessionIdempotencyKeys(limit: 2)

  /// Returns the decision about a request: `start`, `wait`, `respond`, or the code of its error.
  private mutating func decision(
    _ request: IdempotentRequest = request, _ name: ScopedKey = name, at now: UInt64 = 0
  ) -> String {
    do throws(CallError) {
      switch try keys.decide(about: request, name, at: now) {
      case .start: return "start"
      case .wait(let page): return "wait \(page ?? "-")"
      case .respond(.success(let response)): return "respond \(response.value.integer ?? -1)"
      case .respond(.failure(let error)): return "respond \(error.code)"
      }
    } catch {
      return "\(error.code)"
    }
  }

  private mutating func end(_ result: Result<SessionCallResponse, CallError>, at now: UInt64 = 0)
    -> [CallNumber]
  {
    keys.end(Self.name, result, within: Self.budget, at: now)
  }

  @Test mutating func requestsWaitForTheFirstOneAndGetItsResult() throws {
    #expect(decision() == "start")
    try keys.begin(Self.name, Self.request, leader: 1)
    keys.addWaiter(2, for: Self.name)
    #expect(decision() == "wait -")
    keys.addWaiter(3, for: Self.name)
    #expect(keys.recordPage("p1", Self.name) == [2, 3])
    #expect(decision() == "wait p1")
    #expect(end(.success(.value(7))) == [2, 3])
    #expect(decision() == "respond 7")
    #expect(end(.success(.value(8))) == [], "it has ended")
  }

  @Test(
    arguments: [
      IdempotentRequest(method: "router.open", target: "a:1", params: ["n": 1]),
      IdempotentRequest(method: "router.invoke", target: "a:2", params: ["n": 1]),
      IdempotentRequest(method: "router.invoke", target: "a:1", params: ["n": 2]),
    ])
  mutating func anotherRequestConflicts(_ other: IdempotentRequest) throws {
    let (name, request) = (Self.name, Self.request)
    #expect(!keys.conflicts(other, name, at: 0) && !keys.contains(name, at: 0))
    try keys.begin(name, request, leader: 1)
    #expect(decision(other) == "2409" && keys.conflicts(other, name, at: 0))
    #expect(!keys.conflicts(request, name, at: 0) && keys.contains(name, at: 0))
    _ = end(.success(.value(7)))
    #expect(decision(other) == "2409" && keys.conflicts(other, name, at: 0))
    #expect(decision(other, ScopedKey(owner: "guest", text: "k")) == "start")
  }

  @Test mutating func resultsAreStoredForTenMinutes() throws {
    try keys.begin(Self.name, Self.request, leader: 1)
    _ = end(.success(.value(7)), at: 5)
    let lifetime: UInt64 = 600_000_000_000
    #expect(decision(at: 4 + lifetime) == "respond 7")
    #expect(keys.contains(Self.name, at: 4 + lifetime))
    #expect(decision(at: 5 + lifetime) == "start")
    #expect(!keys.contains(Self.name, at: 5 + lifetime))
    #expect(
      !keys.conflicts(.init(method: "x", target: "", params: [:]), Self.name, at: 5 + lifetime))
  }

  @Test(
    arguments: [
      (CallError(.forbidden, "no"), "start"), (CallError(.tooMany, "full"), "start"),
      (CallError(.hostFailed, "broken"), "respond 2502"),
      (CallError(.hostAbsent, "away"), "start"),
      (CallError(.hostAbsent, "lost", data: ["retryable": false]), "respond 2504"),
    ])
  mutating func onlyErrorsOfWorkAreStored(_ error: CallError, _ expected: String) throws {
    try keys.begin(Self.name, Self.request, leader: 1)
    _ = end(.failure(error))
    #expect(decision() == expected)
  }

  @Test mutating func limitsCallsUnderWay() throws {
    for (number, text) in ["a", "b"].enumerated() {
      try keys.begin(ScopedKey(owner: nil, text: text), Self.request, leader: number)
    }
    let error = #expect(throws: CallError.self) {
      try keys.begin(Self.name, Self.request, leader: 3)
    }
    #expect(error?.code == 2429)
    keys.cancel(ScopedKey(owner: nil, text: "a"))
    try keys.begin(Self.name, Self.request, leader: 4)
  }

  @Test mutating func workStartsThreeTimesAtMost() throws {
    #expect(keys.restart(Self.name) == nil, "there is no such call")
    try keys.begin(Self.name, Self.request, Self.operation, leader: 1)
    #expect(keys.restart(Self.name) != nil && keys.restart(Self.name) != nil)
    #expect(keys.restart(Self.name) == nil)
  }

  @Test mutating func restoredCallStartsAgainWithTheWorkOfALaterRequest() throws {
    keys.restore(Self.name, Self.request, leader: 9)
    #expect(keys.restart(Self.name) == nil)
    #expect(keys.setOperation(Self.operation, of: Self.name) == 9)
    #expect(keys.setOperation(Self.operation, of: Self.name) == nil, "it is known")
    #expect(keys.restart(Self.name) != nil)
  }

  @Test mutating func onlyTheLastWaitingRequestStopsTheCall() throws {
    try keys.begin(Self.name, Self.request, leader: 1)
    for call in [2, 3] { keys.addWaiter(call, for: Self.name) }
    #expect(keys.leader(ofLastWaiter: 2, Self.name) == nil)
    keys.removeWaiter(3, Self.name)
    #expect(keys.leader(ofLastWaiter: 2, Self.name) == 1)
  }
}
