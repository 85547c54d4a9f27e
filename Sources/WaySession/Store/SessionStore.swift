/// Stores sessions as values beyond the lifetime of a server. A session is a set of named parts,
/// each of which is some bytes that the store does not interpret.
///
/// A session has one owner at a time, which its ``SessionLease`` names. A store that several
/// servers share rejects changes with a lease that is not the latest. All methods may be called on
/// any thread, one at a time.
public protocol SessionStore: Sendable {
  /// Takes over every session without another owner, and returns the stored sessions. Called once,
  /// before all other methods. Throws if the store cannot be used; the error describes the reason
  /// and the remedy.
  func load(as owner: String) async throws -> [StoredSession]

  /// Stores all of these changes, in their order. Returns when they are durable across a crash of
  /// the server and of the machine. The result names the sessions whose next change should contain
  /// everything. Such a change is ``SessionChange/ChangeStep/removeAll`` followed by all parts, so
  /// that the store can discard their history.
  ///
  /// Throws if that fails, for example because the disk is full. Throws
  /// ``SessionStoreError/leaseLost(sessions:)`` if a lease is not the latest of its session. Then
  /// the change of each session is stored as a whole or not at all, and nothing of sessions whose
  /// lease is lost.
  @discardableResult
  func append(_ changes: [SessionChange]) async throws -> Set<String>

  /// Releases the resources of the store; no method is called afterwards.
  func close() async
}

/// The owner of a session, and the number of times that the session was taken over.
public struct SessionLease: Sendable, Hashable {
  /// The name of a server, unique among those that share the store.
  public let owner: String
  /// 1 for a new session; incremented each time that it is loaded.
  public let term: Int64

  /// Creates a lease: one that the store grants, or the first one of a session that its owner
  /// starts.
  public init(owner: String, term: Int64 = 1) {
    self.owner = owner
    self.term = term
  }
}

/// A session as it is stored.
public struct StoredSession: Sendable {
  /// The id, unique among all sessions, ever.
  public let id: String
  /// The lease of the owner from now on.
  public let lease: SessionLease
  /// The parts, by name.
  public let parts: [String: [UInt8]]
  /// Whether the last owner has released the session, so that everything that happened in it is
  /// stored.
  public let isComplete: Bool
  /// The reason why the session cannot be read; nil if it can. An unreadable session stays as it
  /// is, without an owner.
  package var unreadableReason: String?

  /// Creates the value that was stored under an id.
  public init(
    id: String, lease: SessionLease, parts: [String: [UInt8]], isComplete: Bool = false
  ) {
    self.id = id
    self.lease = lease
    self.parts = parts
    self.isComplete = isComplete
  }
}

/// A change of one session. The first change of a session that is not stored creates it.
public struct SessionChange: Sendable {
  /// One step of a change.
  public enum ChangeStep: Sendable, Hashable {
    /// Stores the part with this name, and replaces an earlier one.
    case put(part: String, bytes: [UInt8])
    /// Removes the part with this name.
    case remove(part: String)
    /// Removes all parts with these names, and those with names between them, compared by their
    /// UTF-8 bytes.
    case removeRange(from: String, through: String)
    /// Removes all parts of the session.
    case removeAll
  }

  /// The session's id.
  public let session: String
  /// The lease with which the owner changes the session.
  public let lease: SessionLease
  /// The steps, in order.
  public var steps: [ChangeStep]
  /// Whether the session has ended: everything stored of it is removed, and its lease is released.
  public var isEnd: Bool
  /// Whether only the lease is released: the stored session has no owner now, and any server may
  /// take it over. A store that is not shared need not distinguish this.
  public var isRelease: Bool

  /// Creates a change of a session.
  public init(
    session: String, lease: SessionLease, steps: [ChangeStep] = [], isEnd: Bool = false,
    isRelease: Bool = false
  ) {
    self.session = session
    self.lease = lease
    self.steps = steps
    self.isEnd = isEnd
    self.isRelease = isRelease
  }
}

/// An error of a store that does not accept changes.
public enum SessionStoreError: Error, Sendable, Hashable {
  /// Another server has taken these sessions over.
  case leaseLost(sessions: Set<String>)
}

/// A store that several servers share. A session belongs to one server at a time. Another server
/// takes it over when its server has stopped or has released it.
package protocol SharedSessionStore: SessionStore {
  /// Takes over a session without an owner, for the owner that was given to
  /// ``SessionStore/load(as:)``. Returns nil if the session does not exist or has an owner; another
  /// server may have been faster. Throws if the store cannot be used, or if the stored session
  /// cannot be read.
  func takeOver(_ session: String) async throws -> StoredSession?

  /// Takes over all sessions without an owner, and calls `adopt` for each as soon as it is taken
  /// over. Returns the owners of other sessions. The cost grows with the data of all servers;
  /// writes meanwhile do not wait for it. If it throws, sessions for which `adopt` was called are
  /// taken over.
  func takeOverAll(_ adopt: @Sendable (StoredSession) async -> Void) async throws -> Set<String>
}
