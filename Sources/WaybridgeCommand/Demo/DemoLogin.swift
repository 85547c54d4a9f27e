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

  init(events: DemoEvents, storedIn folder: String) throws {
    self.events = events
    users = try DemoStore("login", in: folder, else: [])
  }

  /// Registers the handlers of the table's tasks, and the gate `signedIn`: calls of the group `account`
  /// and of `login` wait until `showLogin` returns.
  func register(in router: Router) throws {
    router.add(
      Gate(
        "signedIn", on: [.groups(["account"]), .routes(["login"])],
        opens: try RouteURI("action://login/show")))
    try router.handle("user", with: .task { self.value(for: $0) })
    try router.handle("login", with: .task { self.value(for: $0) })
    try router.handle(
      "showLogin",
      with: .asyncTask { call in
        if self.name(in: call.navigator.session) == nil { try await self.showLogin(call) }
        return self.value(for: call)
      })
    try router.handle(
      "logout",
      with: .asyncTask { call in
        let session = call.navigator.session
        try await call.navigator.setGate("signedIn", isOpen: false)
        try self.users.update { $0.removeAll { $0.session == session } }
        try await self.publishChange(in: session)
        return .null
      })
  }

  private func showLogin(_ call: Call) async throws {
    let session = call.navigator.session
    let waiting = call.exts["gate"]?["uri"]
    let outcome = try await call.navigator.open(
      "native://login", waiting.map { ["uri": $0] } ?? [:], style: .present)
    guard outcome.kind == .finished, let name = outcome.data["name"]?.string else {
      throw CallError(code: 1, message: "nobody has logged in")
    }
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
