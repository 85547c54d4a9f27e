import Synchronization
import Waybridge

/// Who is logged in to the demo, session by session.
final class DemoLogin: Sendable {
  private struct State {
    /// How many sessions are remembered; the oldest login is forgotten first.
    private static let limit = 1000
    private var users: [(session: String, name: String)] = []
    /// The login pages that are shown, by session.
    var asked: [String: Task<Void, any Error>] = [:]

    func name(in session: String) -> String? { users.last { $0.session == session }?.name }

    mutating func remember(_ name: String, in session: String) {
      forget(session)
      if users.count == Self.limit { users.removeFirst() }
      users.append((session, name))
    }

    mutating func forget(_ session: String) {
      users.removeAll { $0.session == session }
    }
  }

  private let events: DemoEvents
  private let state = Mutex(State())

  init(events: DemoEvents) {
    self.events = events
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
        self.state.withLock { $0.forget(call.navigator.session) }
        try await self.tell(in: call.navigator.session)
        return .null
      })
  }

  /// Shows the login page when nobody is logged in, and waits for it. Calls that wait at the same
  /// time share one page.
  private func isLoggedIn(_ call: Call, toOpen uri: String?) async throws -> Bool {
    let session = call.navigator.session
    let asking: Task<Void, any Error>? = state.withLock { state in
      guard state.name(in: session) == nil else { return nil }
      if let asked = state.asked[session] { return asked }
      let asking = Task { try await self.ask(call.navigator, toOpen: uri) }
      state.asked[session] = asking
      return asking
    }
    try await asking?.value
    return state.withLock { $0.name(in: session) != nil }
  }

  private func ask(_ navigator: any Navigator, toOpen uri: String?) async throws {
    defer { state.withLock { $0.asked[navigator.session] = nil } }
    let params: ValueObject = uri.map { ["uri": .string($0)] } ?? [:]
    let outcome = try await navigator.open("native://login", params, style: .present)
    guard outcome.kind == .finished, let name = outcome.data["name"]?.string else { return }
    state.withLock { $0.remember(name, in: navigator.session) }
    try await tell(in: navigator.session)
  }

  private func tell(in session: String) async throws(CallError) {
    try await events.publish("user.changed", user(in: session), to: .session(session))
  }

  private func value(for call: Call) -> Value { user(in: call.navigator.session) }

  private func user(in session: String) -> Value {
    ["name": state.withLock { $0.name(in: session) }.map(Value.string) ?? .null]
  }
}
