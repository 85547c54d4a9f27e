import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The client or handler that serves the methods of a page.
enum PageMethodTarget {
  case client(Client, page: String)
  case app(PageHandler, Page)

  /// Finds the last client that runs in the page, or else the page's host. If a client calls its
  /// own page, the target is the host or another client that runs there.
  ///
  /// Fails with 2403, 2404 or 2504 if there is no target.
  init(
    of pageRequest: PageMethodRequest, in pages: borrowing Pages, _ clients: SessionClients,
    _ resolver: SessionDestinationResolver
  ) throws(CallError) {
    let (page, rights) = (pageRequest.page, pageRequest.rights)
    guard let open = pages[page] else {
      throw .notOnStack("params.page: there is no page \(page.quoted) on the stack")
    }
    try Self.checkAccess(to: open.page, for: rights, in: pages, resolver)
    if let client = clients.inside(page: page, except: pageRequest.excludedClient) {
      self = .client(client, page: page)
      return
    }
    switch open.hostReference {
    case .client(let id):
      guard let host = clients[id] else {
        throw CallError(.hostAbsent, "The host of the page \(page.quoted) is gone")
      }
      self = .client(host, page: page)
    case .app(let handler): self = .app(handler, open.page)
    }
  }

  /// Checks that a caller may call the methods of a page. Fails with 2403.
  static func checkAccess(
    to page: Page, for rights: Rights, in pages: borrowing Pages,
    _ resolver: SessionDestinationResolver
  ) throws(CallError) {
    for guest in rights.guests where !pages.isOwn(page, of: guest) {
      throw .notInvited("A guest may call methods only of its own page and of pages that it opened")
    }
    if let denial = resolver.denial(of: .pageCall, about: page, to: rights) { throw denial }
  }
}
