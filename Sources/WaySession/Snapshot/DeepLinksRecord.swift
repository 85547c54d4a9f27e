import WayValues

/// The stored form of the deep links of a session.
struct DeepLinksRecord: Codable {
  /// A deep link that waits.
  typealias WaitingLinkRecord = RecordInContext<DeepLinkRecord, WaitingLinkContext>

  /// The sender and the audience of a deep link that waits.
  struct WaitingLinkContext: Codable {
    let caller: CallerRecord
    let keyOwner: String?
    /// The audience of the push that has brought the link.
    let to: Value?

    fileprivate init(_ link: DeepLinkQueue.PendingLink) {
      caller = CallerRecord(link.rights.caller)
      keyOwner = link.keyOwner
      to = link.unclaimedLink?.audience.value
    }
  }

  let waiting: [WaitingLinkRecord]

  init(_ links: PendingLinks) {
    waiting = links.storedLinks.map { link in
      WaitingLinkRecord(DeepLinkRecord(link.deepLink), in: WaitingLinkContext(link))
    }
  }
}
