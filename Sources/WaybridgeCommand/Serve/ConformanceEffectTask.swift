import WayStore
import Waybridge

/// A task with an effect that can be counted, for tests of crashes. Each run of
/// `action://effect/:load/:number` adds a row to the table `effects` of `effects.db`, together with
/// the call's idempotency key if it has one.
enum ConformanceEffectTask {
  static func register(in router: Router, folder: String) throws {
    let effects = try SQLiteEffects(
      at: "\(folder)/effects.db",
      schema: "CREATE TABLE IF NOT EXISTS effects (load TEXT NOT NULL, number INTEGER NOT NULL)")
    try router.task("action://effect/:load/:number") { call in
      try await effects.once(call) { transaction in
        let load = call.params["load"] ?? .null
        let number = Int64(call.params["number"]?.string ?? "") ?? 0
        try transaction.execute(
          "INSERT INTO effects (load, number) VALUES (?, ?)", load, .integer(number))
        return .string("\(call.params["load"]?.string ?? "")-\(number)")
      }
    }
  }
}
