import Synchronization
import Waybridge

/// Who is logged in to the demo, session by session.
final class DemoLogin: Sendable {
  private struct DemoUser: Codable {
    let session: String
    let name: String
  }

  /// How many sessions are remembered; the oldest login is forgotten first.
  private static let limit = 1000

  private let events: DemoEvents
  private let users: DemoStore<[DemoUser]>
  /// The login pages that are shown, by session.
  private let asked = Mutex<[String: Task<Void, any Error>]>([:])

  init(events: DemoEvents, keptIn folder: String) throws {
    self.events = events
    users = try DemoStore("login", in: folder, else: [])
  }

  /// Binds the tasks of the table, and guards the routes of its group `account`.
  func register(in router: Router) throws {
    router.intercept("login", on: .groups(["account"]), deadline: .seconds(300)) { call in
      try await self.isLoggedIn(call, toOpen: call.uri.text)
        ? .next : .refuse("nobody has logged in")
    }
    try router.handle("user", with: .task { self.value(for: $0) })
    try router.handle(
      "login",
      with: .asyncTask { call in
        _ = try await self.isLoggedIn(call, toOpen: nil)
        return self.value(for: call)
      })
    try router.handle(
      "logout",
      with: .asyncTask { call in
        let session = call.navigator.session
        try self.users.change { $0.removeAll { $0.session == session } }
        try await self.tell(in: session)
        return .null
      })
  }

  /// Shows the login page when nobody is logged in, and waits for it. Calls that wait at the same
  /// time share one page.
  private func isLoggedIn(_ call: Call, toOpen uri: String?) async throws -> Bool {
    let session = call.navigator.session
    let asking: Task<Void, any Error>? = asked.withLock { asked in
      guard name(in: session) == nil else { return nil }
      if let asking = asked[session] { return asking }
      let asking = Task { try await self.ask(call.navigator, toOpen: uri) }
      asked[session] = asking
      return asking
    }
    try await asking?.value
    return name(in: session) != nil
  }

  private func ask(_ navigator: any Navigator, toOpen uri: String?) async throws {
    let session = navigator.session
    defer { asked.withLock { $0[session] = nil } }
    let params: ValueObject = uri.map { ["uri": .string($0)] } ?? [:]
    let outcome = try await navigator.open("native://login", params, style: .present)
    guard outcome.kind == .finished, let name = outcome.data["name"]?.string else { return }
    try users.change { users in
      users.removeAll { $0.session == session }
      if users.count == Self.limit { users.removeFirst() }
      users.append(DemoUser(session: session, name: name))
    }
    try await tell(in: session)
  }

  private func tell(in session: String) async throws(CallError) {
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
