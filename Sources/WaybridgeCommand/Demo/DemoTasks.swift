import Glibc
import Synchronization
import Waybridge

/// The tasks of the demo that are written in Swift.
enum DemoTasks {
  /// - Parameter folder: the folder in which the tasks store their data.
  static func register(
    in router: Router, events: DemoEvents, storedIn folder: String
  ) throws {
    try router.handle("share", with: .asyncTask(share))
    try router.handle("time", with: .task(time))
    try DemoLogin(events: events, storedIn: folder).register(in: router)
    try DemoShop(events: events, storedIn: folder).register(in: router)
    router.setUndefinedRouteHandler(upgradeRedirect)
  }

  /// Shows the native share sheet, waits for the choice, and returns it.
  @Sendable private static func share(_ call: Call) async throws -> Value {
    let outcome = try await call.navigator.open(
      "native://share/sheet", call.params, exts: call.exts, style: .present)
    guard outcome.kind == .finished else { return ["shared": false] }
    return ["shared": true, "channel": outcome.data["channel"] ?? .null]
  }

  /// Answers with the server's clock, in milliseconds since 1970.
  @Sendable private static func time(_ call: Call) -> Value {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return ["serverTime": .integer(Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)]
  }

  /// Pages without a host may exist in a later version of the app.
  @Sendable private static func upgradeRedirect(_ call: Call) -> UndefinedRouteDecision {
    guard let scheme = call.uri.scheme, ["native", "flutter"].contains(scheme) else {
      return .decline
    }
    return .redirect(uri: "native://upgrade", params: ["uri": .string(call.uri.text)])
  }
}

/// Publishes the topics of the demo's table, once its server exists.
final class DemoEvents: Sendable {
  private let server = Mutex<BridgeServer?>(nil)

  /// Sets the server whose clients receive the events.
  func attach(_ server: BridgeServer) {
    self.server.withLock { $0 = server }
  }

  /// Publishes an event to the clients that subscribe to its topic. Throws ``CallError`` as
  /// `BridgeServer.publish` does: 2503 while the server does not run.
  func publish(
    _ topic: String, _ data: Value, to audience: Audience
  ) async throws(CallError) {
    try await server.withLock { $0 }?.publish(topic, data, to: audience)
  }
}
