import WayRPC
import WayTransport
import WayValues

/// The request that is made under an idempotency key. A different request under the same key is an
/// error.
struct IdempotentRequest: Equatable, Codable {
  let method: String
  /// The URI, or the page and its method.
  let target: String
  let params: ValueObject

  /// The approximate memory of the request, in bytes.
  var size: Int { method.utf8.count + target.utf8.count + Value.object(params).size }
}

extension IdempotentRequest {
  static func == (left: IdempotentRequest, right: IdempotentRequest) -> Bool {
    left.method.isSameUTF8(as: right.method) && left.target.isSameUTF8(as: right.target)
      && left.params == right.params
  }
}

/// The calls of one session under idempotency keys: calls under way, and the results of ended
/// calls. Belongs to its ``Session``'s isolation.
struct SessionIdempotencyKeys {
  /// A call under way.
  struct KeyExecution {
    let request: IdempotentRequest
    /// The call that does the work.
    let leader: CallNumber
    /// How the work starts again; `nil` if it is from before a restart of the server, and no request
    /// has arrived since.
    var operation: CallOperation?
    /// How often the work has started.
    var startCount = 1
    /// The calls that wait for the result, one for each request.
    var waiters: [CallNumber] = []
    /// The page that the call has opened.
    var page: String?
    /// The request to the host that works on the call.
    var hostRequest: HostRequest?
  }

  /// A request to a host of the session. After a restart of the server its response still counts.
  struct HostRequest: Hashable {
    let client: ClientID
    let id: RequestID
    let method: String
  }

  /// What to do with a request.
  enum KeyDecision {
    /// Make the call, under the key (``begin(_:_:_:leader:)``).
    case start
    /// Wait for the call, which may have opened a page.
    case wait(page: String?)
    case respond(Result<SessionCallResponse, CallError>)
  }

  /// The result of a call that has ended.
  struct KeyResult {
    let request: IdempotentRequest
    let result: Result<SessionCallResponse, CallError>
    /// The memory charge of the result.
    fileprivate let charge: ByteBudget.Charge
    /// When the call ended, in nanoseconds of the loop's clock.
    let endedAt: UInt64
    /// The number of the last use, among the uses of all results.
    fileprivate(set) var lastUse: Int
  }

  /// How long a result is stored, in nanoseconds.
  static let resultLifetime: UInt64 = 600_000_000_000
  /// How often the work of a key starts at most. A host may fail because of the call itself.
  private static let maxStarts = 3

  private var running: [ScopedKey: KeyExecution] = [:]
  private var results: [ScopedKey: KeyResult] = [:]
  private var useCount = 0
  private let limit: Int
  private let journal: SessionJournal?

  /// `limit` is the maximum number of results, and of calls under way.
  init(limit: Int, _ journal: SessionJournal? = nil) {
    self.limit = limit
    self.journal = journal
  }

  /// Decides what to do with a request. This counts as a use of a stored result. Fails with 2409 if
  /// the key was used for another request.
  mutating func decide(
    about request: IdempotentRequest, _ name: ScopedKey, at now: UInt64
  ) throws(CallError) -> KeyDecision {
    if let running = running[name] {
      guard running.request == request else { throw .keyConflict(name.text) }
      return .wait(page: running.page)
    }
    guard let found = result(of: name, at: now) else { return .start }
    guard found.request == request else { throw .keyConflict(name.text) }
    useCount += 1
    results[name]?.lastUse = useCount
    return .respond(found.result)
  }

  /// Whether the key was used for another request.
  func conflicts(_ request: IdempotentRequest, _ name: ScopedKey, at now: UInt64) -> Bool {
    let known = running[name]?.request ?? result(of: name, at: now)?.request
    return known.map { $0 != request } ?? false
  }

  /// Whether the key was used.
  func contains(_ name: ScopedKey, at now: UInt64) -> Bool {
    running[name] != nil || result(of: name, at: now) != nil
  }

  private func result(of name: ScopedKey, at now: UInt64) -> KeyResult? {
    results[name].flatMap { now &- $0.endedAt < Self.resultLifetime ? $0 : nil }
  }

  /// Begins a call. Fails with 2429 if there are too many.
  mutating func begin(
    _ name: ScopedKey, _ request: IdempotentRequest, _ operation: CallOperation? = nil,
    leader: CallNumber
  ) throws(CallError) {
    guard running.count < limit else {
      throw CallError(
        .tooMany, "\(limit) calls with an idempotency key are in progress in the session",
        data: ["limit": .integer(Int64(limit))])
    }
    removeResult(name)
    running[name] = KeyExecution(request: request, leader: leader, operation: operation)
  }

  /// Cancels a call that has not started.
  mutating func cancel(_ name: ScopedKey) {
    if running.removeValue(forKey: name) != nil { journal?.recordChange(.idempotencyKey(name)) }
  }

  /// Records how a call from before a restart of the server starts again. Returns the call if that
  /// was not known.
  mutating func setOperation(_ operation: CallOperation, of name: ScopedKey) -> CallNumber? {
    guard let known = running[name], known.operation == nil else { return nil }
    running[name]?.operation = operation
    return known.leader
  }

  /// Decides whether the work of a key starts again, because its host is gone or has lost its state.
  /// Returns `nil` if it does not.
  mutating func restart(_ name: ScopedKey) -> CallOperation? {
    guard let known = running[name], let operation = known.operation,
      known.startCount < Self.maxStarts
    else { return nil }
    running[name]?.startCount += 1
    return operation
  }

  /// Adds a request that waits for the result.
  mutating func addWaiter(_ call: CallNumber, for name: ScopedKey) {
    running[name]?.waiters.append(call)
  }

  /// Removes a request that no longer waits.
  mutating func removeWaiter(_ call: CallNumber, _ name: ScopedKey) {
    running[name]?.waiters.removeAll { $0 == call }
  }

  /// Returns the call that does the work, if this is the last request that waits for it.
  func leader(ofLastWaiter call: CallNumber, _ name: ScopedKey) -> CallNumber? {
    guard let running = running[name], running.waiters == [call] else { return nil }
    return running.leader
  }

  /// Records the page that the call has opened. Returns the waiting requests.
  mutating func recordPage(_ page: String, _ name: ScopedKey) -> [CallNumber] {
    running[name]?.page = page
    journal?.recordChange(.idempotencyKey(name))
    return running[name]?.waiters ?? []
  }

  /// Records the request that a host works on for a key.
  mutating func recordHostRequest(_ request: HostRequest, of name: ScopedKey) {
    running[name]?.hostRequest = request
  }

  /// Returns the requests that wait for a call.
  func waiters(for name: ScopedKey) -> [CallNumber] { running[name]?.waiters ?? [] }

  /// Ends a call and returns the requests that wait for its result. The result is stored for later
  /// requests, unless no work on the call has begun.
  mutating func end(
    _ name: ScopedKey, _ result: Result<SessionCallResponse, CallError>, within budget: ByteBudget,
    at now: UInt64
  ) -> [CallNumber] {
    guard let call = running.removeValue(forKey: name) else { return [] }
    journal?.recordChange(.idempotencyKey(name))
    if case .failure(let error) = result, error.isBeforeExecution { return call.waiters }
    for (name, call) in results where now &- call.endedAt >= Self.resultLifetime {
      removeResult(name)
    }
    while results.count >= limit { removeOldest() }
    let size = Self.size(call.request, name, result)
    // A result that exceeds the budget replaces older results.
    repeat {
      if let charge = try? budget.charge(size) {
        useCount += 1
        results[name] = KeyResult(
          request: call.request, result: result, charge: charge, endedAt: now, lastUse: useCount)
        break
      }
    } while removeOldest()
    return call.waiters
  }

  /// Returns the approximate memory of a result, in bytes.
  private static func size(
    _ request: IdempotentRequest, _ name: ScopedKey,
    _ result: Result<SessionCallResponse, CallError>
  ) -> Int {
    request.size + name.text.utf8.count + result.size
  }

  @discardableResult
  private mutating func removeOldest() -> Bool {
    guard let oldest = results.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else {
      return false
    }
    removeResult(oldest)
    return true
  }

  private mutating func removeResult(_ name: ScopedKey) {
    if results.removeValue(forKey: name) != nil { journal?.recordChange(.idempotencyKey(name)) }
  }
}

extension SessionIdempotencyKeys {
  /// Returns the call under way of a key, or `nil`.
  func execution(of name: ScopedKey) -> KeyExecution? { running[name] }

  /// Returns the result of a key, or `nil`.
  func result(of name: ScopedKey) -> KeyResult? { results[name] }

  /// The keys of all calls and results.
  var allKeys: [ScopedKey] { Array(running.keys) + Array(results.keys) }

  /// Restores a result. `lastUse` is the number of its last use among the uses of all results. The
  /// results that were used last come first, so that they have room.
  mutating func restore(
    _ name: ScopedKey, _ request: IdempotentRequest,
    _ result: Result<SessionCallResponse, CallError>,
    within budget: ByteBudget, at: UInt64, lastUse: Int
  ) {
    let size = Self.size(request, name, result)
    guard results.count < limit, let charge = try? budget.charge(size) else { return }
    // Any number may be stored, and further uses must not overflow.
    let lastUse = min(lastUse, 1 << 53)
    useCount = max(useCount, lastUse)
    results[name] = KeyResult(
      request: request, result: result, charge: charge, endedAt: at, lastUse: lastUse)
  }

  /// Restores a call that waits for a shown page or a host.
  mutating func restore(
    _ name: ScopedKey, _ request: IdempotentRequest, leader: CallNumber, page: String? = nil,
    _ hostRequest: HostRequest? = nil
  ) {
    running[name] = KeyExecution(
      request: request, leader: leader, page: page, hostRequest: hostRequest)
  }
}

extension CallError {
  /// Whether no work has begun on the failed call, so that it may be made again.
  fileprivate var isBeforeExecution: Bool {
    switch protocolCode {
    case .invalidParams, .forbidden, .noRoute, .wrongKind, .conflict, .tooLarge,
      .invalidParameters, .refused, .tooMany, .unavailable, .redirectLoop:
      true
    // The host may have disappeared during its work.
    case .hostAbsent: data?["retryable"] != false
    default: false
    }
  }
}

extension Result<SessionCallResponse, CallError> {
  /// The approximate memory of the result, in bytes.
  fileprivate var size: Int {
    switch self {
    case .success(let response): response.value.size
    case .failure(let error): error.message.utf8.count + (error.data.map(\.size) ?? 0)
    }
  }
}
