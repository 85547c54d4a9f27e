import Synchronization
import Waybridge

/// The logged-in user of each session of the demo.
final class DemoLogin: Sendable {
  private struct DemoUser: Codable {
    let session: String
    let name: String
  }

  /// The number of logins that are stored; the oldest is dropped first.
  private static let maxUsers = 1000

  private let events: DemoEvents
  private let users: DemoStore<[DemoUser]>
  /// The tasks of the login pages that are shown, by session.
  private let loginTasks = Mutex<[String: Task<Void, any Error>]>([:])

  init(events: DemoEvents, storedIn folder: String) throws {
    self.events = events
    users = try DemoStore("login", in: folder, else: [])
  }

  /// Registers the handlers of the table's tasks, and guards the routes of its group `account`.
  func register(in router: Router) throws {
    router.intercept("login", on: .groups(["account"]), timeout: .seconds(300)) { call in
      try await self.requireLogin(call, toOpen: call.uri.text)
        ? .next : .refuse("nobody has logged in")
    }
    try router.handle("user", with: .task { self.value(for: $0) })
    try router.handle(
      "login",
      with: .asyncTask { call in
        _ = try await self.requireLogin(call, toOpen: nil)
        return self.value(for: call)
      })
    try router.handle(
      "logout",
      with: .asyncTask { call in
        let session = call.navigator.session
        try self.users.update { $0.removeAll { $0.session == session } }
        try await self.publishChange(in: session)
        return .null
      })
  }

  /// Shows the login page if no user is logged in, and waits for it. Calls that wait at the same
  /// time share one page.
  private func requireLogin(_ call: Call, toOpen uri: String?) async throws -> Bool {
    let session = call.navigator.session
    let login: Task<Void, any Error>? = loginTasks.withLock { tasks in
      guard name(in: session) == nil else { return nil }
      if let login = tasks[session] { return login }
      let login = Task { try await self.showLogin(call.navigator, toOpen: uri) }
      tasks[session] = login
      return login
    }
    try await login?.value
    return name(in: session) != nil
  }

  private func showLogin(_ navigator: any Navigator, toOpen uri: String?) async throws {
    let session = navigator.session
    defer { loginTasks.withLock { $0[session] = nil } }
    let params: ValueObject = uri.map { ["uri": .string($0)] } ?? [:]
    let outcome = try await navigator.open("native://login", params, style: .present)
    guard outcome.kind == .finished, let name = outcome.data["name"]?.string else { return }
    try users.update { users in
      users.removeAll { $0.session == session }
      if users.count == Self.maxUsers { users.removeFirst() }
      users.append(DemoUser(session: session, name: name))
    }
    try await publishChange(in: session)
  }

  private func publishChange(in session: String) async throws(CallError) {
    try await events.publish("user.changed", user(in: session), to: .session(session))
  }

  private func value(for call: Call) -> Value { user(in: call.navigator.session) }

  private func user(in session: String) -> Value {
    ["name": name(in: session).map(Value.string) ?? .null]
  }

  private func name(in session: String) -> String? {
    users.value.last { $0.session == session }?.name
  }
}
