/// Keeps sessions beyond the life of a server, as values: a session is a set of named parts, each
/// some bytes that the store does not look into.
///
/// A session has one owner at a time, which its ``SessionLease`` names: a store that several servers
/// share refuses what comes by a lease that is not the last. All methods may be called from any
/// thread, one at a time.
public protocol SessionStore: Sendable {
  /// Takes over every session that nobody else owns, and gives what is kept of each. Called once,
  /// before anything else. Throws where the store cannot be used, and says why and what to do.
  func load(as owner: String) async throws -> [StoredSession]

  /// Makes all of these changes, in their order; returns when they would outlive a crash of the
  /// server and of the machine. Gives the sessions that it wants to be handed as a whole with their
  /// next change (``SessionChange/Step/removeAll``, then all parts), so that it may forget how they
  /// came about.
  ///
  /// Throws where that cannot be, as when the disk is full, and
  /// ``SessionStoreError/leaseLost(sessions:)`` where a lease is not the last of its session. Each
  /// session's change is kept as a whole then or not at all, and of sessions whose lease is lost
  /// nothing.
  @discardableResult
  func append(_ changes: [SessionChange]) async throws -> Set<String>

  /// Gives back what it holds; nothing is called afterwards.
  func close() async
}

/// Who owns a session, and for the how-manieth time it was taken over.
public struct SessionLease: Sendable, Hashable {
  /// The name of a server, unique among those that share the store.
  public let owner: String
  /// 1 for a new session; one more each time that it is loaded.
  public let term: Int64

  /// A lease of the store's making, and the first of a session that its owner begins.
  public init(owner: String, term: Int64 = 1) {
    self.owner = owner
    self.term = term
  }
}

/// What is kept of a session.
public struct StoredSession: Sendable {
  /// Unique among all sessions, ever.
  public let id: String
  /// Who owns it from now on.
  public let lease: SessionLease
  /// Its parts, by their names.
  public let parts: [String: [UInt8]]
  /// Whether its last owner has given it back: nothing has happened in it that is not kept.
  public let isComplete: Bool
  /// Why what was found cannot be read: it stays as it is, and is nobody's. Nil where it can.
  package var fault: String?

  /// What was found under an id.
  public init(
    id: String, lease: SessionLease, parts: [String: [UInt8]], isComplete: Bool = false
  ) {
    self.id = id
    self.lease = lease
    self.parts = parts
    self.isComplete = isComplete
  }
}

/// What changes of one session. The first change of a session that is not kept begins it.
public struct SessionChange: Sendable {
  /// One step of a change.
  public enum Step: Sendable, Hashable {
    /// From now on this is the part of that name.
    case put(part: String, bytes: [UInt8])
    /// There is no such part any more.
    case remove(part: String)
    /// There is no part any more whose name is one of these or lies between them, compared by its
    /// UTF-8 bytes.
    case removeRange(from: String, through: String)
    /// Nothing is kept of the session any more, until something is put.
    case removeAll
  }

  /// The session's id.
  public let session: String
  /// By which its owner changes it.
  public let lease: SessionLease
  /// In their order.
  public var steps: [Step]
  /// Whether the session is over: nothing is kept of it any more, and its lease is given back.
  public var isEnd: Bool
  /// Whether the lease alone is given back: what is kept is nobody's now, and who wants it takes it
  /// over. A store that one server has to itself need not tell that.
  public var isRelease: Bool

  /// What changes of a session.
  public init(
    session: String, lease: SessionLease, steps: [Step] = [], isEnd: Bool = false,
    isRelease: Bool = false
  ) {
    self.session = session
    self.lease = lease
    self.steps = steps
    self.isEnd = isEnd
    self.isRelease = isRelease
  }
}

/// Why a store does not keep what it is given.
public enum SessionStoreError: Error, Sendable, Hashable {
  /// Another server has taken these sessions over.
  case leaseLost(sessions: Set<String>)
}
