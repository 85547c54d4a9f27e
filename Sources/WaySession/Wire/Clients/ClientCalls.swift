import WayNavigation
import WayRPC
import WayTransport
import WayValues

/// The requests of one client that have no response yet. It decides whether another one may begin,
/// and when the client has none.
///
/// As in ``Client``, properties that every message needs are not checked for exclusive access.
struct ClientCalls: ~Copyable {
  /// The maximum number of calls of one client that wait for pages.
  static let maxPageWaits = 4 * NavigationStack.maxPages

  /// The rest of a batch that has used up its turn.
  var batch: SessionBatchInProgress?
  /// Whether the client leaves when its calls have ended.
  private var endsClient = false
  /// Calls that wait for their response.
  private var requests: PendingCallTable
  /// Calls that arrived as notifications and are not finished. No response is due for them, but
  /// their number is limited as well.
  private var notifications: Set<CallNumber> = []
  /// The number of these that do not count as calls in flight, because their page is shown.
  private var uncountedNotificationCount = 0
  /// The number of calls with an idempotency key that start as soon as they are stored, and of the
  /// requests that wait for them.
  private var startingCount = 0
  private var rateLimiter: CallRateLimiter
  /// The events that the client has published.
  var publishAllowance = PublishRateLimit.PublishAllowance()
  /// The time for which the client has occupied the loop.
  var fairShare = ClientFairShare()
  private let maxInFlight: Int

  init(_ limits: Limits) {
    maxInFlight = limits.maxInFlight
    requests = PendingCallTable(limit: limits.maxInFlight)
    rateLimiter = CallRateLimiter(limits)
  }

  /// Counts a request at `now`, a time of the loop's clock in nanoseconds. Throws 2429 if the client
  /// calls too often.
  mutating func chargeRate(at now: UInt64) throws(CallError) { try rateLimiter.charge(at: now) }

  /// Checks the id of a request and the number of calls. That suffices for a request that gets its
  /// response at once.
  @inline(__always)
  func check(_ id: RequestID) throws(CallError) { try requests.check(id) }

  /// Counts a call that does not end at once. Throws at the limit; for a notification the caller
  /// never learns of this.
  mutating func begin(_ number: CallNumber, at handle: ReplyHandle) throws(CallError) {
    guard handle.isNotification else { return try requests.begin(handle.id, number) }
    let count = notifications.count - uncountedNotificationCount + requests.detachedCount
    guard count < maxInFlight else {
      throw CallError(
        .tooMany, "At most \(maxInFlight) notifications of a client may be in progress")
    }
    notifications.insert(number)
  }

  /// Stops counting a call as one in flight, because it only waits for the outcome of a page that is
  /// shown. Its id stays in use.
  mutating func stopCounting(at handle: ReplyHandle) {
    if handle.isNotification {
      uncountedNotificationCount += 1
    } else {
      requests.stopCounting()
    }
  }

  /// Throws 2429 if too many calls of the client wait for the outcomes of pages. There can be more
  /// of them than pages, because several calls may wait for the same page.
  func checkPageWaits() throws(CallError) {
    guard requests.uncountedCount + uncountedNotificationCount < Self.maxPageWaits else {
      throw CallError(
        .tooMany,
        "\(Self.maxPageWaits) calls of the client wait for the outcome of a page; cancel some or "
          + "close their pages", data: ["limit": .integer(Int64(Self.maxPageWaits))])
    }
  }

  /// Removes a call that has its response. `isCounted` is false for a call that
  /// ``stopCounting(at:)`` was called for. Returns whether the client leaves now.
  @discardableResult
  mutating func end(_ number: CallNumber, at handle: ReplyHandle, isCounted: Bool) -> Bool {
    if !handle.isNotification {
      _ = requests.end(handle.id, isCounted: isCounted)
    } else if notifications.remove(number) != nil, !isCounted {
      uncountedNotificationCount -= 1
    }
    return endsClient && isIdle
  }

  /// Makes the client leave when its calls have ended. Returns whether it has none now.
  mutating func endClientWhenIdle() -> Bool {
    endsClient = true
    return isIdle
  }

  /// Ends the batch that is in progress. Returns whether the client leaves now.
  mutating func endBatch() -> Bool {
    batch = nil
    return endsClient && isIdle
  }

  /// Whether no call is in progress.
  private var isIdle: Bool { notifications.isEmpty && requests.isEmpty && batch == nil }

  /// Keeps the slot of a call that has ended for this client, but not yet for the client that
  /// serves it.
  mutating func retainSlot() { requests.addDetached() }

  /// Releases a slot when the serving client has responded or disconnected.
  mutating func releaseSlot() { requests.removeDetached() }

  /// Whether later requests wait for calls that start as soon as they are stored.
  var holdsRequests: Bool { startingCount > 0 }

  /// Holds later requests until ``releaseRequests()``.
  mutating func holdRequests() { startingCount += 1 }

  /// Ends one ``holdRequests()``.
  mutating func releaseRequests() { startingCount -= 1 }

  /// The number of the call in progress with an id.
  func number(of id: RequestID) -> CallNumber? { requests[id] }

  /// Removes and returns the unfinished calls, in order, when there is no connection for their
  /// responses.
  mutating func drain() -> [CallNumber] {
    defer {
      notifications = []
      uncountedNotificationCount = 0
    }
    return requests.drain() + notifications.sorted()
  }
}

/// Limits the call rate of a client to a number of calls a second, plus a burst.
struct CallRateLimiter {
  private let limit: RateLimit
  private var due: UInt64 = 0

  init(_ limits: Limits) {
    limit = RateLimit(rate: limits.maxRate, burst: limits.maxBurst)
  }

  /// Counts a call at `now`, a time of the loop's clock in nanoseconds. If the call exceeds the
  /// limit, throws 2429 with `data.retryAfterMs` and does not count it.
  mutating func charge(at now: UInt64) throws(CallError) {
    let wait = limit.charge(&due, at: now)
    guard wait > 0 else { return }
    let milliseconds = RateLimit.milliseconds(ofWait: wait)
    throw CallError(
      .tooMany, "The client calls too often; try again in \(milliseconds) ms",
      data: ["retryAfterMs": .integer(Int64(milliseconds))])
  }
}
