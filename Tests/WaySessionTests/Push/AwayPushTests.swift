import Synchronization
import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// Pushes that a push service receives, because no client with a connection has.
@Suite(.timeLimit(.minutes(1)))
struct AwayPushTests {
  private final class Service: Sendable {
    private let pushes = Mutex<[AwayPush]>([])

    var sink: EventSink {
      var sink = EventSink()
      sink.awayPush = { push in self.pushes.withLock { $0.append(push) } }
      return sink
    }

    /// Returns the pushes since the last call.
    func removeAll() -> [AwayPush] {
      pushes.withLock { pushes in
        defer { pushes = [] }
        return pushes
      }
    }
  }

  private let service = Service()
  private let bridge: InMemoryBridge

  init() throws {
    let router = Router()
    try router.page("native://offer")
    bridge = InMemoryBridge(
      router, observer: service.sink, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
  }

  private func push(
    _ backend: WireClient, _ to: Value, _ method: Value, _ params: Value, key: Value? = nil
  ) async throws -> Value? {
    var request: ValueObject = ["to": to, "method": method, "params": params]
    request["key"] = key
    return try await backend.request("session.push", .object(request))["result"]
  }

  private static let pushes: [(method: String, params: Value, target: String, content: Value)] = [
    (
      "router.open", ["uri": "native://offer", "params": ["n": 1]], "native://offer", ["n": 1]
    ),
    ("router.deliver", ["uri": "native://offer?n=2"], "native://offer?n=2", [:]),
    ("event", ["topic": "news", "data": [5]], "news", [5]),
  ]

  @Test func reportsWhatWaitsForASessionWithoutAConnection() async throws {
    let anna = try await SequencedClient(
      bridge, ["token": "anna", "hosts": [["scheme": "native", "kind": "page"]]])
    try await anna.call("news", "events.subscribe", ["topics": ["news"]])
    _ = try await anna.wire.response("news")
    let session = try #require(await anna.openResult["session"]?.string)
    try await anna.disconnect()
    let (backend, _) = try await WireClient.open(bridge, ["token": "backend"])
    for (method, params, target, content) in Self.pushes {
      let result = try await push(
        backend, ["user": "anna"], .string(method), params, key: .string("k-\(method)"))
      #expect(result?["waiting"] == 1, "\(method)")
      #expect(
        service.removeAll() == [
          AwayPush(
            session: session, user: "anna", method: method, target: target, params: content,
            key: "k-\(method)", isWaiting: true, at: InMemoryBridge.startTime)
        ], "\(method)")
    }
    // Nobody subscribes to this topic.
    _ = try await push(backend, ["session": .string(session)], "event", ["topic": "other"])
    #expect(service.removeAll().map(\.isWaiting) == [false])
    // Methods of the clients' own mean nothing to the service.
    _ = try await push(backend, ["user": "anna"], "cart", [:])
    #expect(service.removeAll() == [])
  }

  @Test func reportsNothingWhileAClientHasAConnection() async throws {
    let anna = try await SequencedClient(
      bridge, ["token": "anna", "hosts": [["scheme": "native", "kind": "page"]]])
    let (page, _) = try await WireClient.open(
      bridge, ["token": "anna"], joining: await anna.openResult)
    try await anna.disconnect()
    let (backend, _) = try await WireClient.open(bridge, ["token": "backend"])
    for (method, params, _, _) in Self.pushes {
      _ = try await push(backend, ["user": "anna"], .string(method), params)
    }
    #expect(service.removeAll() == [])
    _ = page
  }

  @Test func reportsAUserWithoutASession() async throws {
    let (backend, _) = try await WireClient.open(bridge, ["token": "backend"])
    for (method, params, target, content) in Self.pushes {
      let result = try await push(backend, ["user": "ben"], .string(method), params)
      let waits = method == "router.deliver"
      #expect(result?["waiting"] == (waits ? 1 : 0) && result?["nobody"] == (waits ? 0 : 1))
      #expect(
        service.removeAll() == [
          AwayPush(
            user: "ben", method: method, target: target, params: content, isWaiting: waits,
            at: InMemoryBridge.startTime)
        ], "\(method)")
    }
    // No user is known for these.
    for to: Value in [["group": "none"], ["session": "s-none"]] {
      _ = try await push(backend, to, "event", ["topic": "news"])
      #expect(service.removeAll() == [])
    }
  }
}
