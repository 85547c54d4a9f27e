import WayTransport

/// The openings of pages whose hosts have been asked and have not answered.
///
/// One at a time holds up what waits behind it, but for those at hosts that are silent: they held
/// it up once.
struct Openings {
  private var asked: [String: PageOpening] = [:]
  /// The page whose opening holds up the others.
  private var current: String?
  /// The hosts that let the time of an opening pass, and have answered nothing since.
  private var silentHosts: Set<String> = []

  /// Whether what waits has to wait on.
  var holdUpOthers: Bool { current != nil }

  /// The call that a page is being opened for.
  func call(openingOf page: String) -> CallNumber? { asked[page]?.call }

  /// The host of a page is going to be asked.
  mutating func begin(_ opening: PageOpening) {
    asked[opening.page.id] = opening
    if !silentHosts.contains(opening.host) { current = opening.page.id }
  }

  /// The host has been asked; `timeout` rings when the answer does not come.
  mutating func asked(
    _ whom: PageOpening.Asked, for page: String, timeout: any ScheduledWork
  ) {
    guard let opening = asked[page] else { return timeout.cancel() }
    opening.asked = whom
    opening.timeout = timeout
  }

  /// Takes the opening out whose host has answered.
  mutating func answered(_ page: String) -> PageOpening? {
    guard let opening = asked.removeValue(forKey: page) else { return nil }
    opening.timeout?.cancel()
    if current == page { current = nil }
    silentHosts.remove(opening.host)
    return opening
  }

  /// Gives up the opening of a call. It stays until its host has answered, which is to be told;
  /// gives who that is.
  mutating func abandon(_ call: CallNumber) -> PageOpening.Asked? {
    guard let (page, opening) = asked.first(where: { $1.call == call && $1.phase == .asking })
    else { return nil }
    _ = opening.abandon()
    if current == page { current = nil }
    return opening.asked
  }

  /// The host of a page has let its time pass; gives the opening where it was still wanted.
  mutating func overdue(_ page: String) -> PageOpening? {
    guard let opening = asked[page], opening.phase == .asking else { return nil }
    silentHosts.insert(opening.host)
    return opening
  }

  /// A host has answered something.
  mutating func heard(_ host: String) {
    if !silentHosts.isEmpty { silentHosts.remove(host) }
  }
}
