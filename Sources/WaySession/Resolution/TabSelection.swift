import WayNavigation
import WayRouting
import WayValues

/// How a call selects a tab.
enum TabSelection {
  /// The stack changes. If the tab has pages, its first one gets the `exts`.
  case change(StackOperation)
  /// The first page of the tab is opened, or gets the parameters if it is open.
  case open(uri: String, SessionCallOptions)

  /// `params` and `exts` are for the first page of the tab. Fails with 2405 if the table's URI for it
  /// leads to no page, and with 2404 for params if the table does not have the tab any more.
  init(
    _ tab: Int, _ params: TabParams, _ exts: ValueObject, by rights: Rights,
    _ span: SessionCallSpan?, on stack: NavigationStack, _ resolver: SessionDestinationResolver
  ) throws(CallError) {
    if params.isEmpty, stack.hasPages(tab: tab) {
      self = .change(.select(tab: tab, first: nil, delivering: NavigationDelivery(exts: exts)))
      return
    }
    let snapshot = resolver.snapshot
    guard snapshot.tabs.indices.contains(tab) else {
      throw CallError(
        .noRoute,
        "The table does not have tab \(tab) any more, so its first page can get no parameters",
        kind: "noTab")
    }
    let uri = try params.uri(of: snapshot.tabs[tab], plusIsSpace: snapshot.plusIsSpace)
    guard try resolver.destination(of: uri, params.params).routeKind == .page else {
      throw CallError(.wrongKind, "The first page of tab \(tab), \(uri.quoted), is not a page")
    }
    self = .open(
      uri: uri,
      SessionCallOptions(
        rights: rights, method: .selectTab, span: span, params: params.params, exts: exts,
        style: .tab, placement: .tab(tab), respondsWithChange: true))
  }
}
