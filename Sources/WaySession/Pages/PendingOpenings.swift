import WayTransport

/// The openings of pages whose hosts have been asked and have not responded.
///
/// One opening at a time blocks the queue. Openings at unresponsive hosts do not: these hosts have
/// blocked it once. Nor do openings at hosts without a connection, which wait until the host is back
/// or gone.
struct PendingOpenings {
  private var pending: [String: PageOpening] = [:]
  /// The page whose opening blocks the queue.
  private var blockingPage: String?
  /// The hosts that have not responded to an opening in time, and to nothing since.
  private var silentHosts: Set<String> = []
  /// The hosts that have lost their connection.
  private var absentHosts: Set<String> = []

  /// Whether the queue has to wait.
  var isBlocking: Bool { blockingPage != nil }

  /// Returns the call that a page is being opened for.
  func call(openingOf page: String) -> CallNumber? { pending[page]?.call }

  /// Adds an opening whose host is about to be asked.
  mutating func begin(_ opening: PageOpening) {
    pending[opening.page.id] = opening
    if !silentHosts.contains(opening.hostName), !absentHosts.contains(opening.hostName) {
      blockingPage = opening.page.id
    }
  }

  /// Records that a host has lost its connection. The time of its openings stops.
  mutating func markAbsent(_ host: String) {
    absentHosts.insert(host)
    for (page, opening) in pending where opening.hostName == host {
      opening.timeoutTimer?.cancel()
      opening.timeoutTimer = nil
      if blockingPage == page { blockingPage = nil }
    }
  }

  /// Records that a host is connected again. Returns the openings whose time begins again.
  mutating func markConnected(_ host: String) -> [PageOpening] {
    absentHosts.remove(host)
    return pending.values.filter { $0.hostName == host }
  }

  /// Records that a host has left for good.
  mutating func forgetHost(_ host: String) { absentHosts.remove(host) }

  /// Records the request to a host; `timeout` fires if the response does not arrive.
  mutating func recordRequest(
    _ request: PageOpening.PageOpenRequest, for page: String, timeout: (any ScheduledWork)?
  ) {
    guard let opening = pending[page] else {
      timeout?.cancel()
      return
    }
    opening.request = request
    opening.timeoutTimer = timeout
  }

  /// Removes and returns the opening whose host has responded.
  mutating func complete(_ page: String) -> PageOpening? {
    guard let opening = pending.removeValue(forKey: page) else { return nil }
    opening.timeoutTimer?.cancel()
    if blockingPage == page { blockingPage = nil }
    markResponsive(opening.hostName)
    return opening
  }

  /// Abandons the opening of a call. The opening stays until its host has responded. Returns the
  /// request, whose host has to be notified.
  mutating func abandon(_ call: CallNumber) -> PageOpening.PageOpenRequest? {
    guard let (page, opening) = pending.first(where: { $1.call == call && $1.phase == .requesting })
    else { return nil }
    _ = opening.abandon()
    if blockingPage == page { blockingPage = nil }
    return opening.request
  }

  /// Marks the host of a page as unresponsive. Returns the opening if it was still wanted.
  mutating func timeOut(_ page: String) -> PageOpening? {
    guard let opening = pending[page], opening.phase == .requesting else { return nil }
    silentHosts.insert(opening.hostName)
    return opening
  }

  /// Records that a host has responded to a request.
  mutating func markResponsive(_ host: String) {
    if !silentHosts.isEmpty { silentHosts.remove(host) }
  }
}
