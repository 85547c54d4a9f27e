import TestSupport
import WaySession
import WayStore
import WaybridgeCluster

/// A store as it is tested, with its folder where it has one.
struct OpenStore {
  let store: any SessionStore
  var folder: TestFolder?
  var engine: NATSServer?
}

/// The stores that keep the same rules.
enum Kind: String, CaseIterable, CustomStringConvertible {
  case memory, sqlite, jetstream

  func open() throws -> OpenStore {
    switch self {
    case .memory: return OpenStore(store: MemorySessionStore())
    case .sqlite:
      let folder = try TestFolder()
      let store = try SQLiteSessionStore(folder: folder.path("data"))
      return OpenStore(store: store, folder: folder)
    case .jetstream:
      let engine = try NATSServer()
      return OpenStore(store: try Cluster(nats: engine.url).engine.store, engine: engine)
    }
  }

  var description: String { rawValue }
}

/// What a test does to a store: a change by a lease of the owner `a`, unless it says another.
enum Act: Sendable {
  case change(String, [SessionChange.Step], term: Int64 = 1, owner: String = "a")
  case end(String, term: Int64 = 1)
  /// All of it in one `append`.
  case all([Act])
  /// An `append` that fails for the lease of this session.
  case lost(String, [Act])
  case load(String)

  var changes: [SessionChange] {
    switch self {
    case .change(let session, let steps, let term, let owner):
      [
        SessionChange(
          session: session, lease: SessionLease(owner: owner, term: term), steps: steps)
      ]
    case .end(let session, let term):
      [
        SessionChange(
          session: session, lease: SessionLease(owner: "a", term: term),
          steps: [.put(part: "late", bytes: [1])], isEnd: true)
      ]
    case .all(let acts), .lost(_, let acts): acts.flatMap(\.changes)
    case .load: []
    }
  }
}

extension SessionChange.Step {
  static func put(_ part: String, _ text: String) -> SessionChange.Step {
    .put(part: part, bytes: Array(text.utf8))
  }
}

/// A session on one line: `x b2 p=1 q=2`.
func line(_ session: StoredSession) -> String {
  let parts = session.parts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  let texts = parts.map { "\($0.key)=\(String(decoding: $0.value, as: UTF8.self))" }
  return (["\(session.id) \(session.lease.owner)\(session.lease.term)"] + texts)
    .joined(separator: " ")
}
