import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The page that a call asks for: its style, its tab, and what it gives to a page that is already
/// open.
struct RequestedPage {
  /// The URI of the caller, if it differs from that of the page.
  private let calledURI: String?
  private let style: Style
  /// The tab whose first page is to be opened.
  let tab: Int?
  /// The tab of the table whose first page a `popTo` opens.
  let ownTab: Int?
  /// The page that `exts.pop` names.
  let popTarget: PageReference?

  /// `options` are those of the call. Fails with 2405 if the call cannot open a page, and with 2404 if
  /// no tab begins with the page.
  @inline(__always)
  init(
    _ destination: SessionDestination, for callResolution: SessionCallResolution,
    _ options: SessionCallOptions, on stack: NavigationStack,
    _ resolver: SessionDestinationResolver
  ) throws(CallError) {
    let uri = destination.uri.text
    guard callResolution.kind == .open || options.respondsWithChange else {
      throw CallError(.wrongKind, "\(uri.quoted) is a page: use router.open, not router.invoke")
    }
    guard !options.isInBatch else {
      throw CallError(
        .wrongKind,
        "A page cannot be opened in a batch, whose response would wait for it; send it on its own")
    }
    var style = options.style ?? destination.route?.presentation?.style ?? .push
    let calledURI = PageURI.called(callResolution.calledURI, resolvingTo: destination.uri)
    var first: PageURI {
      PageURI(
        calledURI ?? uri, resolved: uri, route: destination.route?.name,
        pathParams: destination.pathParams)
    }
    let isLink = style == .push && options.style == nil && options.method == .deliver
    let ownTab =
      style == .popTo || isLink && stack.showsTabs
      ? resolver.declaredTab(of: .uri(first), for: options.rights.caller) : nil
    // A deep link to a tab's page selects the tab, instead of opening a second copy.
    if isLink, ownTab != nil { style = .popTo }
    switch options.placement {
    case .tab(let index): tab = index
    case .edit:
      tab = nil
      if style != .present { style = .push }
    case .style:
      tab =
        style == .tab
        ? try resolver.tabIndex(of: .uri(first), uri, on: stack, for: options.rights.caller) : nil
    }
    (self.style, self.calledURI, self.ownTab) = (style, calledURI, ownTab)
    if case .object(let target)? = options.exts["pop"], let text = PageReference.popTarget(target) {
      popTarget = resolver.reference(text, for: options.rights.caller)
    } else {
      popTarget = nil
    }
  }

  /// Returns the page as its host gets it.
  @inline(__always)
  func page(
    _ id: String, at destination: SessionDestination, exts: ValueObject, host: String
  ) -> Page {
    Page(
      id: id, uri: destination.uri.text, calledURI: calledURI, route: destination.route?.name,
      pathParams: destination.pathParams, style: style, params: destination.params, exts: exts,
      host: host)
  }

  /// Returns what the call gives to its page if that is already open: the parameters of the URI's
  /// query and of the caller, and the caller's `exts`. Returns `nil` if there are neither.
  func delivery(
    of page: Page, at destination: SessionDestination, _ options: SessionCallOptions
  ) -> NavigationDelivery? {
    guard style == .popTo || style == .tab else { return nil }
    let hasParams = !options.params.isEmpty || destination.uri.query?.isEmpty == false
    return NavigationDelivery(of: page, hasParams: hasParams, hasExts: !options.exts.isEmpty)
  }
}
