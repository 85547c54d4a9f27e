import WayTransport

@testable import WaySession

/// An engine that one server uses, which hears of others what a test says.
final class StubClusterEngine: ClusterEngine {
  let store: any SharedSessionStore
  private let owner: Ownership
  let tenure = Tenure { 0 }
  let maxMessage = 1 << 20
  let failure: String? = nil
  let renewal: UInt64 = 1
  /// What was sent: to a server, or to all.
  let sent = Locked<[(bytes: [UInt8], server: String?)]>([])
  private let handlers = Locked<ClusterHandlers?>(nil)
  private let numbers = Locked<[String: UInt64]>([:])

  /// All sessions are `owner`'s.
  init(_ store: (any SharedSessionStore)? = nil, owner: Ownership = .absent) {
    self.store = store ?? Nothing()
    self.owner = owner
  }

  /// Has a message come from another server.
  func receive(_ message: ClusterMessage, from server: String) {
    let number = numbers.withLock { numbers in
      numbers[server, default: 0] += 1
      return numbers[server, default: 0]
    }
    handlers.withLock { $0 }?.received(
      ClusterEnvelope.bytes(from: server, number, message.bytes))
  }

  func join(as server: String, _ handlers: ClusterHandlers) {
    renew()
    self.handlers.withLock { $0 = handlers }
  }

  /// The server may take its sessions for its own for ever, until it has lost them.
  func renew() { tenure.renewed(until: .max, asleep: 0) }

  func rejoin() {}
  func leave() { tenure.lost() }
  func heard(_ server: String, renewal: UInt64) {}
  func isGone(_ server: String) -> Bool { false }
  func owner(of session: String) -> Ownership { owner }
  func send(_ message: [UInt8], to server: String?) {
    sent.withLock { $0.append((message, server)) }
  }
  func document(_ name: String) -> (bytes: [UInt8], revision: UInt64)? { nil }
  func put(_ bytes: [UInt8], as name: String, after revision: UInt64) -> UInt64? { nil }

  private struct Nothing: SharedSessionStore {
    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) -> Set<String> { [] }
    func close() {}
    func take(_ session: String) -> StoredSession? { nil }
    func takeAll(_ taken: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }
}
