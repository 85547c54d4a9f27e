import WayTransport
import WayValues

/// The blobs of other sessions that clients may fetch: those in the params of a call that a
/// server-wide host serves, and those in its result. Usable from any thread.
final class BlobGrants: Sendable {
  /// The blobs of a call, which its host may fetch as long as this object exists.
  final class BlobLoan: Sendable {
    private let ids: Set<String>
    private let client: String
    private let grants: BlobGrants

    fileprivate init(_ ids: Set<String>, to client: String, _ grants: BlobGrants) {
      self.ids = ids
      self.client = client
      self.grants = grants
    }

    deinit { grants.end(ids, of: client) }
  }

  private struct BlobGrantState {
    /// The session of each blob that a client may fetch, and the number of calls with it.
    var ofClients: [String: [String: (session: String, calls: Int)]] = [:]
    /// The session of each blob that the clients of a session may fetch.
    var ofSessions: [String: [String: String]] = [:]
  }

  /// The most blobs of one message, and of one client or session.
  private static let maxOfMessage = 64
  private static let maxOfHolder = 1024

  private let state = Locked(BlobGrantState())

  /// Lets a client fetch the blobs of a session that params refer to. Returns nil if there are none.
  func lend(_ params: Value, of session: String, to client: String) -> BlobLoan? {
    let ids = Self.ids(in: params)
    guard !ids.isEmpty else { return nil }
    let lent = state.withLock { state in
      var granted = state.ofClients[client] ?? [:]
      let lent = ids.filter { id in
        guard granted[id] != nil || granted.count < Self.maxOfHolder else { return false }
        granted[id, default: (session, 0)].calls += 1
        return true
      }
      state.ofClients[client] = granted
      return lent
    }
    return BlobLoan(lent, to: client, self)
  }

  private func end(_ ids: Set<String>, of client: String) {
    state.withLock { state in
      var granted = state.ofClients[client] ?? [:]
      for id in ids {
        granted[id]?.calls -= 1
        if granted[id]?.calls == 0 { granted[id] = nil }
      }
      state.ofClients[client] = granted.isEmpty ? nil : granted
    }
  }

  /// Lets the clients of a session fetch the blobs of the session `home` that a result refers to, as
  /// long as they exist.
  func share(_ result: Value, of home: String, with session: String) {
    let ids = Self.ids(in: result)
    guard !ids.isEmpty else { return }
    state.withLock { state in
      for id in ids where state.ofSessions[session]?.count ?? 0 < Self.maxOfHolder {
        state.ofSessions[session, default: [:]][id] = home
      }
    }
  }

  func forget(session: String) { state.withLock { $0.ofSessions[session] = nil } }

  /// The sessions of the blobs that a client may fetch, by their ids.
  func sessions(for client: String, of session: String) -> [String: String] {
    state.withLock { state in
      var sessions = state.ofSessions[session] ?? [:]
      for (id, grant) in state.ofClients[client] ?? [:] { sessions[id] = grant.session }
      return sessions
    }
  }

  /// The ids of the blobs that a value refers to, the first ones.
  private static func ids(in value: Value) -> Set<String> {
    var ids: Set<String> = []
    func collect(_ value: Value) {
      guard ids.count < maxOfMessage else { return }
      switch value {
      case .array(let items): for item in items { collect(item) }
      case .object(let object):
        if case .string(let id)? = object["$blob"] { ids.insert(id) }
        for member in object.members { collect(member.value) }
      case .null, .bool, .integer, .number, .string: break
      }
    }
    collect(value)
    return ids
  }
}
