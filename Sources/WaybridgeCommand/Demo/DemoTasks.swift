import Glibc
import Waybridge

/// What of the demo is written in Swift.
enum DemoTasks {
  /// - Parameter folder: where what the tasks remember is kept.
  static func register(
    in router: Router, events: DemoEvents, keptIn folder: String
  ) throws {
    try router.handle("share", with: .asyncTask(share))
    try router.handle("time", with: .task(time))
    try DemoLogin(events: events, keptIn: folder).register(in: router)
    try DemoShop(events: events, keptIn: folder).register(in: router)
    router.undefinedRoute(upgrade)
  }

  /// Shows the native share sheet, waits for the choice, and answers with it.
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

  /// Pages that nobody shows may come with a later version of the app.
  @Sendable private static func upgrade(_ call: Call) -> UndefinedRouteDecision {
    guard let scheme = call.uri.scheme, ["native", "flutter"].contains(scheme) else {
      return .decline
    }
    return .redirect(uri: "native://upgrade", params: ["uri": .string(call.uri.text)])
  }
}
