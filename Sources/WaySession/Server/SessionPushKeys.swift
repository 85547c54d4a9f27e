import WayValues

/// The pushes to several sessions that this server has carried out under idempotency keys. A push
/// with the same key gets the same result, also if other sessions have come since.
///
/// Each session also remembers the keys of what it has received. That holds if another server gets
/// the second push, or this one has forgotten the first.
struct SessionPushKeys {
  /// A key with its pusher and the audience that it is for.
  struct PushKey: Hashable {
    /// The owner of the key, as in ``Rights/pushKeyOwner(_:)``.
    let owner: String
    let audience: Audience
    let text: String

    static func == (left: PushKey, right: PushKey) -> Bool {
      left.text.isSameUTF8(as: right.text) && left.owner.isSameUTF8(as: right.owner)
        && left.audience == right.audience
    }

    func hash(into hasher: inout Hasher) {
      text.hashUTF8(into: &hasher)
      hasher.combine(audience)
    }
  }

  /// The work of a push, with its result.
  typealias PushTask = Task<Result<SessionPushResult, CallError>, Never>

  private struct KeyedPush {
    let request: IdempotentRequest
    let task: PushTask
    /// The result, and when it arrived in milliseconds since 1970-01-01 UTC; `nil` before that.
    var ended: (result: SessionPushResult, at: Int64, size: Int)?
  }

  /// How long a result is stored, in milliseconds.
  private static let lifetime = Int64(SessionIdempotencyKeys.resultLifetime / 1_000_000)
  /// How many pushes are stored.
  private static let maxPushes = 1024
  /// Bytes of all stored results.
  private static let maxBytes = 8 << 20

  private var pushes: [PushKey: KeyedPush] = [:]
  private var bytes = 0

  /// Returns the work of a push, which `start` starts unless it has begun before. `now` is in
  /// milliseconds since 1970-01-01 UTC. Throws 2409 if the key stands for another push.
  mutating func begin(
    _ key: PushKey, _ request: IdempotentRequest, at now: Int64, _ start: () -> PushTask
  ) throws(CallError) -> PushTask {
    removeExpired(at: now)
    if let known = pushes[key] {
      guard known.request == request else { throw .keyConflict(key.text) }
      return known.task
    }
    while pushes.count >= Self.maxPushes, removeOldest() {}
    let task = start()
    pushes[key] = KeyedPush(request: request, task: task)
    return task
  }

  /// Stores the result of a push. A push that could not begin may be repeated.
  mutating func end(_ key: PushKey, _ result: Result<SessionPushResult, CallError>, at now: Int64) {
    guard case .success(let result) = result else {
      pushes[key] = nil
      return
    }
    let size = result.size + key.text.utf8.count + (pushes[key]?.request.size ?? 0)
    bytes += size
    pushes[key]?.ended = (result, now, size)
    while bytes > Self.maxBytes, removeOldest() {}
  }

  /// Returns the result of a push that another server has got too; `nil` if it is not known here, or
  /// has not ended. Throws 2409 if the key stands for another push.
  mutating func result(
    of key: PushKey, _ request: IdempotentRequest, at now: Int64
  ) throws(CallError) -> SessionPushResult? {
    removeExpired(at: now)
    guard let known = pushes[key] else { return nil }
    guard known.request == request else { throw .keyConflict(key.text) }
    return known.ended?.result
  }

  private mutating func removeExpired(at now: Int64) {
    for (key, push) in pushes {
      if let ended = push.ended, now - ended.at >= Self.lifetime { remove(key) }
    }
  }

  /// Removes the result that arrived first; returns false if there is none.
  private mutating func removeOldest() -> Bool {
    let oldest = pushes.filter { $0.value.ended != nil }
      .min { ($0.value.ended?.at ?? 0) < ($1.value.ended?.at ?? 0) }
    guard let oldest else { return false }
    remove(oldest.key)
    return true
  }

  private mutating func remove(_ key: PushKey) {
    bytes -= pushes.removeValue(forKey: key)?.ended?.size ?? 0
  }
}
