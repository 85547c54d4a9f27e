import TestSupport
import WaySession
import WayStore
import WaybridgeCluster

/// A store under test, with its folder if it has one.
struct StoreFixture {
  let store: any SessionStore
  var folder: TestFolder?
  var engine: NATSServer?
}

/// The stores with the same behavior.
enum StoreKind: String, CaseIterable, CustomStringConvertible {
  case memory, sqlite, jetstream

  func open() throws -> StoreFixture {
    switch self {
    case .memory: return StoreFixture(store: MemorySessionStore())
    case .sqlite:
      let folder = try TestFolder()
      let store = try SQLiteSessionStore(folder: folder.path("data"))
      return StoreFixture(store: store, folder: folder)
    case .jetstream:
      let engine = try NATSServer()
      return StoreFixture(
        store: try Cluster(nats: NATSClusterSettings(url: engine.url)).engine.store, engine: engine)
    }
  }

  var description: String { rawValue }
}

/// An operation of a test: a change by a lease of the owner `a`, unless it names another.
enum StoreOperation: Sendable {
  case change(String, [SessionChange.ChangeStep], term: Int64 = 1, owner: String = "a")
  case end(String, term: Int64 = 1)
  /// All operations in one `append`.
  case batch([StoreOperation])
  /// An `append` that fails because of this session's lease.
  case leaseLost(String, [StoreOperation])
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
    case .batch(let acts), .leaseLost(_, let acts): acts.flatMap(\.changes)
    case .load: []
    }
  }
}

extension SessionChange.ChangeStep {
  static func put(_ part: String, _ text: String) -> SessionChange.ChangeStep {
    .put(part: part, bytes: Array(text.utf8))
  }
}

/// Returns a session on one line: `x b2 p=1 q=2`.
func summary(_ session: StoredSession) -> String {
  let parts = session.parts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  let texts = parts.map { "\($0.key)=\(String(decoding: $0.value, as: UTF8.self))" }
  return (["\(session.id) \(session.lease.owner)\(session.lease.term)"] + texts)
    .joined(separator: " ")
}
