import Synchronization
import Waybridge

/// What pages and handlers of the rows have noted, in order.
final class RowLog: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// The page of a thread of posts, a page type with one parameter.
struct ThreadPage: RoutePage {
  let userId: Int

  func open(_ page: Page, _ call: Call) async throws {
    // The stack handles the result when the page is shown.
    Task { try await call.navigator.finish(PageResult(.integer(Int64(userId)))) }
  }

  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {}
}

/// The page of an address.
struct AddressPage: RoutePage {
  let id: Int

  func open(_ page: Page, _ call: Call) async throws {
    // The stack handles the result when the page is shown.
    Task { try await call.navigator.finish(PageResult(["id": .integer(Int64(id))])) }
  }

  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {}
}

/// The page of a scanned code.
struct DemoPage: RoutePage {
  let intValue: Int?

  func open(_ page: Page, _ call: Call) async throws {
    // The stack handles the result when the page is shown.
    Task { try await call.navigator.finish(PageResult(.integer(Int64(intValue ?? 0)))) }
  }

  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {}
}

/// The page of a user.
struct UserPage: RoutePage {
  let id: Int

  func open(_ page: Page, _ call: Call) async throws {
    // The stack handles the result when the page is shown.
    Task { try await call.navigator.finish(PageResult(.integer(Int64(id)))) }
  }

  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {}
}

/// A service of an app.
struct AppConfig: Sendable {
  var theme = "dark"

  func openMiniProgram(_ id: String) -> String { "opened \(id)" }
}

/// The registration of the service that the build plugin would find.
enum ConfigService: RouteService {
  static let name = "Config"

  static func make(for router: Router) throws -> AppConfig { AppConfig() }

  static func methods(_ service: inout ServiceMethods<AppConfig>) {
    service.method("theme") { config, _ in .string(config.theme) }
  }
}

/// A module that the build plugin would find.
enum OrdersModule: RouteModule {
  static func routes() throws -> [Route] {
    [Route(name: "count", patterns: [try RoutePattern("action://orders/count")], kind: .task)]
  }

  static func register(in router: Router) async throws {
    try router.handle("count", with: .task { _ in 2 })
  }
}
