import WayRouting
import WayValues

/// A call that opens the page of a deep link, or one below it.
struct DeepLinkCall {
  let link: DeepLinkQueue.LinkNumber
  let uri: String
  let options: SessionCallOptions
  /// The host of the page; nil if it is no client of the session.
  let host: ClientID?
  /// Whether the page is the link's own.
  let isLast: Bool

  /// Creates the call that opens the page of a link.
  init(opening link: DeepLinkQueue.PendingLink, _ conditions: DeepLinkConditions) {
    let deepLink = link.deepLink
    self.link = link.number
    uri = deepLink.uri
    options = SessionCallOptions(
      rights: link.rights, method: .deliver, params: deepLink.params, exts: deepLink.exts,
      style: deepLink.style,
      idempotencyKey: deepLink.key.map {
        RouterIdempotencyKey(session: conditions.session, owner: link.keyOwner, text: $0)
      })
    host = conditions.host(of: uri, deepLink.params)
    isLast = true
  }

  /// Creates the call that opens a page below the page of a link.
  init(
    opening parent: String, below link: DeepLinkQueue.PendingLink,
    _ conditions: DeepLinkConditions
  ) {
    self.link = link.number
    uri = parent
    options = SessionCallOptions(rights: link.rights, method: .deliver, style: .popTo)
    host = conditions.host(of: parent, [:])
    isLast = false
  }
}
