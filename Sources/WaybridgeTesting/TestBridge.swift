import WaySession
import WayTransport
import Waybridge
import WaybridgeClient

/// An app's router with a server and clients in memory, for the app's own tests. It has no sockets
/// and no threads, and its clock only moves with ``advance(by:)``.
///
/// ```swift
/// let router = Router()
/// try router.task("action://hello") { call in
///   .string("Hello, \(call.params["name"]?.string ?? "you")")
/// }
///
/// let app = try await TestBridge(router)
/// print(try await app.invoke("action://hello", ["name": "Ada"]))
/// ```
///
/// One client, ``client``, is connected from the start, in its own session; calls on the bridge
/// itself are that client's. Others ``join(_:name:page:hosts:methods:)`` its session or
/// ``connect(name:token:hosts:methods:)`` with their own session.
/// ``registerHost(_:patterns:tasks:for:)`` creates a ``TestHost`` for pages and tasks. ``server``
/// is the app's own side.
///
/// Clients and server use the same protocol as over sockets. Features of sockets are missing:
/// `Limits.maxConnections`, `Limits.maxQueueBytes`, pings, files and metrics. `Call.deadline` uses
/// the real clock.
///
/// A wait that exceeds ten seconds of real time fails with `CallError` 2408, which describes it, so
/// that no test hangs. Usable from any thread; bridges share nothing, so tests may run
/// concurrently.
public struct TestBridge: Sendable {
  /// The client that is connected from the start.
  public let client: BridgeClient
  /// The session of ``client``, with the credentials that others need to join it.
  public let session: BridgeClient.SessionDescription
  /// The app's side: opens pages, calls methods and publishes events in the sessions. It runs until
  /// ``end()``.
  public let server: BridgeServer
  let loop: MemoryLoop
  let memoryServer: InMemoryServer
  let timeout: WaitTimeout
  private let sessions: LoopSessions
  private let eventMailbox = Mailbox<BridgeEvent>()

  /// Runs the router's start handlers (`Router.start()`), and opens the session of ``client``.
  ///
  /// Throws `StartError` if the start fails, `CallError` -32602 for an invalid host, and 2401 if
  /// `BridgeConfiguration.sessions.identify` rejects the token.
  ///
  /// - Parameters:
  ///   - router: the router to test; it may be changed afterwards.
  ///   - configuration: its limits, identify, table version, logger and conformance methods are
  ///     used; settings of sockets are not.
  ///   - token: the token that authenticates ``client``.
  ///   - hosts: the hosts that ``client`` registers.
  ///   - timeout: how long a test waits, in real time.
  public init(
    _ router: Router, configuration: BridgeConfiguration = BridgeConfiguration(),
    token: String? = nil, hosts: [BridgeClient.Host] = [], timeout: Duration = .seconds(10)
  ) async throws {
    let loop = MemoryLoop()
    server = BridgeServer(router: router, configuration: configuration)
    sessions = try await server.startInMemory(on: loop) { Self.milliseconds(loop) }
    memoryServer = InMemoryServer(to: sessions, on: loop)
    self.loop = loop
    self.timeout = WaitTimeout(duration: timeout)
    let events = try await server.events(buffer: .max)
    Task(executorPreference: loop) { [eventMailbox] in
      for try await event in events { eventMailbox.put(event) }
    }
    client = try await memoryServer.connect(
      .init(name: "test", version: "1", token: token, hosts: hosts))
    guard let session = await client.session else {
      throw CallError(.sessionNotOpen, "The session has already ended")
    }
    self.session = session
  }
}

// Time and events.
extension TestBridge {
  /// The wall clock that `BridgeEvent.at` uses: milliseconds since 1970-01-01 UTC. It begins at the
  /// same time in every test, and only moves with ``advance(by:)``.
  public var now: Int64 { Self.milliseconds(loop) }

  /// Moves the clock. Work that becomes due runs in order, with everything that follows from it:
  /// timeouts of calls and of interceptors, and the time that a host has for a page.
  ///
  /// Only work that has begun can become due. For a call that runs concurrently with the test,
  /// first wait for evidence that it has begun, such as ``TestHost/nextRequestedPage()`` or
  /// ``nextEvent(_:)``.
  public func advance(by time: Duration) async {
    await loop.advance(by: time)
  }

  /// Returns when clients and server are idle: sent messages have arrived and were processed. It
  /// does not wait for work on other executors, such as Swift handlers and interceptors that
  /// suspend, or hosts on the main actor. Useful before a test checks that something has not
  /// happened.
  public func settle() async {
    await loop.settle()
  }

  /// Returns the next of the server's own events of a topic, such as `task.started`. Each event is
  /// returned once, including earlier events. Throws `CallError` 2408 if there is none.
  @discardableResult
  public func nextEvent(_ topic: String) async throws(CallError) -> BridgeEvent {
    try await timeout.next(of: eventMailbox, "the event \(topic)", where: { $0.topic == topic })
  }

  /// Ends the server: waiting calls fail with -32802, connections close with 4200 for good, and
  /// hosts receive a request to close their pages. Other tests need not call it: nothing continues after
  /// the test has ended.
  public func end() async {
    await sessions.sessionServer.drain()
    await memoryServer.close()
    await server.stopInMemory(sessions)
    await loop.settle()
  }

  private static func milliseconds(_ loop: MemoryLoop) -> Int64 {
    1_750_000_000_000 + Int64(clamping: loop.nanoseconds / 1_000_000)
  }
}
