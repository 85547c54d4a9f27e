import WaySession
import WayTransport
import Waybridge
import WaybridgeClient

/// An app's router with a server and clients in memory, for the app's own tests: no socket, no
/// thread, and a clock that stands still until ``advance(by:)`` moves it.
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
/// One client is there from the start, ``client``, in a session of its own; calls on the bridge
/// itself are that client's. Others ``join(_:name:page:hosts:methods:)`` its session or
/// ``connect(name:token:hosts:methods:)`` to one of their own, and ``host(_:patterns:tasks:for:)``
/// gives pages and tasks a ``TestHost``. ``server`` is the app's own side.
///
/// Clients and server speak the protocol to each other as they do over sockets. What only sockets
/// have is not there: `Limits.maxConnections`, `Limits.maxQueueBytes`, pings, files and metrics.
/// `Call.deadline` tells a moment of the real clock.
///
/// What does not come within ten seconds of real time fails with `CallError` 2408, which says what
/// it was, so that no test hangs. Usable from any thread; bridges share nothing, so that tests may
/// run at the same time.
public struct TestBridge: Sendable {
  /// The client that is there from the start.
  public let client: BridgeClient
  /// The session of ``client``, with what others need to join it.
  public let session: BridgeClient.Session
  /// The app's side: opens pages, calls methods and publishes events in the sessions unasked. It
  /// runs until ``end()``.
  public let server: BridgeServer
  let loop: MemoryLoop
  let door: InMemoryServer
  let patience: Patience
  private let hub: LoopSessions
  private let happened = Mailbox<BridgeEvent>()

  /// Carries out the router's start (`Router.start()`), and opens the session of ``client``.
  ///
  /// Throws `StartError` where the start fails, `CallError` -32602 for a wrong host, and 2401 where
  /// `BridgeConfiguration.identify` refuses the token.
  ///
  /// - Parameters:
  ///   - router: what is tested; it may be changed afterwards.
  ///   - configuration: its limits, identify, table version, logger and conformance count; what
  ///     belongs to sockets does not.
  ///   - token: what ``client`` is identified by.
  ///   - hosts: what ``client`` shows and runs.
  ///   - patience: how long a test waits, by the real clock, for what does not come.
  public init(
    _ router: Router, configuration: BridgeConfiguration = BridgeConfiguration(),
    token: String? = nil, hosts: [BridgeClient.Host] = [], patience: Duration = .seconds(10)
  ) async throws {
    let loop = MemoryLoop()
    server = BridgeServer(router: router, configuration: configuration)
    hub = try await server.begin(on: loop) { Self.milliseconds(loop) }
    door = InMemoryServer(to: hub, on: loop)
    self.loop = loop
    self.patience = Patience(time: patience)
    let events = try await server.events(buffer: .max)
    Task(executorPreference: loop) { [happened] in
      for try await event in events { happened.put(event) }
    }
    client = try await door.connect(
      .init(name: "test", version: "1", token: token, hosts: hosts))
    guard let session = await client.session else {
      throw CallError(.sessionNotOpen, "The session has ended already")
    }
    self.session = session
  }
}

// Time, and what happens in it.
extension TestBridge {
  /// The wall clock, as `BridgeEvent.at` tells it: milliseconds since 1970-01-01 UTC. It begins at
  /// the same moment in every test, and moves with ``advance(by:)`` alone.
  public var now: Int64 { Self.milliseconds(loop) }

  /// Moves the clock: what falls due on the way runs in its order, deadlines of calls and of
  /// interceptors, the time that a host has for a page, each with all that follows from it.
  ///
  /// Only what has begun can fall due: of a call that runs beside the test, wait for what shows
  /// that it has, such as ``TestHost/asked()`` or ``event(_:)``.
  public func advance(by time: Duration) async {
    await loop.advance(by: time)
  }

  /// Returns when clients and server have done all that they do by themselves: what was sent has
  /// arrived and is worked on. What runs elsewhere is not waited for: handlers and interceptors in
  /// Swift that wait, hosts on the main actor. Useful before a test checks that something has not
  /// happened.
  public func settle() async {
    await loop.settle()
  }

  /// The next of the server's own events of a topic, such as `task.started`; each is given once,
  /// those that came before too. Throws `CallError` 2408 when none comes.
  @discardableResult
  public func event(_ topic: String) async throws(CallError) -> BridgeEvent {
    try await patience.next(of: happened, "the event \(topic)", where: { $0.topic == topic })
  }

  /// Ends the server: calls that wait fail with -32802, connections close with 4200 for good, hosts are
  /// told to close their pages. A test that is not about that need not call it: nothing goes on once the test has
  /// ended.
  public func end() async {
    await hub.group.drain()
    await door.close()
    await server.end(hub)
    await loop.settle()
  }

  private static func milliseconds(_ loop: MemoryLoop) -> Int64 {
    1_750_000_000_000 + Int64(clamping: loop.nanoseconds / 1_000_000)
  }
}
