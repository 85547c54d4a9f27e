import WayRPC
import WayRouting
import WayTransport

// What the router's hooks are told. It costs a look at the snapshot when there are none.
extension Session {
  func tellHooks(_ notice: @autoclosure () -> RouteNotice) {
    let routes = routes.current()
    if routes.hasHooks { routes.tell(notice()) }
  }

  /// Tells of the pages that have come, gone, and come back.
  func tellHooks(
    _ change: StackChange, _ closed: [(page: Page, outcome: Outcome, entry: OpenPage?)],
    asked: UInt64?
  ) {
    for (page, outcome, entry) in closed {
      tellHooks(.didClose(page, outcome, after: elapsed(since: entry?.since)))
    }
    if let page = change.resumed { tellHooks(.didResume(page)) }
    if let page = change.shown { tellHooks(.didOpen(page, after: elapsed(since: asked))) }
  }

  func tellFailed(_ opening: QueuedOpening, _ error: RPCError) {
    let page = opening.page
    tellFailed(page, error)
    tellHooks(
      .failed(failure(page.uri, page.route, error, after: elapsed(since: opening.asked))))
  }

  func failure(
    _ uri: String?, _ route: String?, _ error: RPCError, after: Duration? = nil
  ) -> RouteFailure {
    RouteFailure(
      uri: uri, route: route, code: error.code, kind: error.data?["kind"]?.string,
      message: error.message, after: after)
  }

  /// The time since a moment of the loop's clock; none since no moment.
  func elapsed(since start: UInt64?) -> Duration {
    guard let start else { return .zero }
    return .nanoseconds(Int64(clamping: loop.nanoseconds &- start))
  }
}
