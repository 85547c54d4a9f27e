import WayNavigation
import WayValues

// The session's stack. A page is identified by its id, or by its URI, which means the nearest page
// from the top with the same route and path parameters.
extension BridgeClient {
  /// Goes back, through modal stacks; the root page stays. A page is identified by its id, a URI or
  /// the name of its route.
  ///
  /// Throws ``CallError``: -32602 for a negative count, 2404 for a page that is not on the stack,
  /// 2409 for a result if no page closes.
  ///
  /// - Parameters:
  ///   - target: how far to go back.
  ///   - result: the result for the opener of the lowest page that closes.
  ///   - exts: extensions for the hosts of the pages that close, for example `animated`.
  @discardableResult
  public func back(
    _ target: BackTarget<String>, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    var params = target.params
    params["result"] = result?.value
    if !exts.isEmpty { params["exts"] = .object(exts) }
    return try await requestChange("navigation.back", params)
  }

  /// Goes back by `count` pages. Throws as ``back(_:result:exts:)-(BackTarget<String>,_,_)``.
  @discardableResult
  public func back(
    _ count: Int = 1, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    try await back(.count(count), result: result, exts: exts)
  }

  /// Closes a page and returns the result to its opener; pages above it are dismissed.
  ///
  /// Throws ``CallError``: 2404 if the page is not on the stack, since a page ends once; -32602
  /// without `page` from a client that does not run in a page.
  ///
  /// - Parameters:
  ///   - result: the result; nil returns none.
  ///   - page: the page's id; nil means the page that this client runs in.
  ///   - exts: extensions for the hosts of the pages that close, for example `animated`.
  @discardableResult
  public func finish(
    _ result: PageResult? = nil, page: String? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    var params: ValueObject = [:]
    params["page"] = page.map(Value.string)
    params["result"] = result?.value
    if !exts.isEmpty { params["exts"] = .object(exts) }
    return try await requestChange("navigation.finish", params)
  }

  /// Sets the result that a page returns if navigation closes it, for example a swipe; nil removes it.
  ///
  /// Throws ``CallError``: 2404 if the page is not on the stack; 2403 without the right to it; -32602
  /// without `page` from a client that does not run in a page.
  ///
  /// - Parameters:
  ///   - result: the result.
  ///   - page: the page's id; nil means the page that this client runs in.
  public func setResult(_ result: PageResult?, page: String? = nil) async throws(CallError) {
    var params: ValueObject = [:]
    params["page"] = page.map(Value.string)
    params["result"] = result?.value
    _ = try await perform("page.setResult", .object(params))
  }

  /// Removes a range of pages, and opens others in its place, lowest first; without a range, on top.
  /// The stack changes at once when the hosts of all new pages have agreed. Each page that closes has
  /// one outcome: `replaced`, or `dismissed` if no page is opened.
  ///
  /// Throws ``CallError``: 2404 for a page that is not on the stack, 2409 if no page would stay, 2423
  /// if a page refuses to close, 2405 for a URI that is no page, 2429 for more than 32 pages, and as
  /// ``open(_:_:exts:style:from:timeout:key:onShown:onProgress:)``. The stack is unchanged then.
  ///
  /// - Parameters:
  ///   - remove: the pages to remove; nil removes none.
  ///   - pages: the pages to open. No client waits for their outcomes.
  ///   - exts: extensions for the hosts of the pages that close, for example `animated`.
  ///   - key: the idempotency key.
  @discardableResult
  public func edit(
    removing remove: PageRange<String>? = nil, opening pages: [AddedPage] = [],
    exts: ValueObject = [:], key: String? = nil
  ) async throws(CallError) -> NavigationChange {
    let message = StackEditMessage(remove, opening: pages, exts: exts, key: key)
    return try await requestChange("navigation.edit", message.value)
  }

  /// Shows a tab by its index, from 0 in the order of the route table.
  ///
  /// Throws ``CallError``: 2404 if there is no such tab. If the tab's first page has to be opened,
  /// throws as ``open(_:_:exts:style:from:timeout:key:onShown:onProgress:)``.
  @discardableResult
  public func selectTab(_ index: Int) async throws(CallError) -> NavigationChange {
    try await requestChange("navigation.selectTab", ["index": .integer(Int64(index))])
  }

  /// Shows the tab with this URI of its first page. Throws as ``selectTab(_:)-(Int)``.
  @discardableResult
  public func selectTab(_ uri: String) async throws(CallError) -> NavigationChange {
    try await requestChange("navigation.selectTab", ["uri": .string(uri)])
  }

  /// Returns all pages of the session. Throws ``CallError`` if the connection is lost.
  public func stack() async throws(CallError) -> Stack {
    let response = try await perform("navigation.stack", nil)
    guard let stack = Stack(response) else {
      throw .malformedResponse("navigation.stack", response)
    }
    return stack
  }

  /// Returns the page on the stack that an id, a URI or a route name identifies; nil if there is
  /// none. Throws ``CallError`` -32602 for any other string.
  public func contains(_ page: String) async throws(CallError) -> HostedPage? {
    let response = try await perform("navigation.contains", ["uri": .string(page)])
    if response.isNull { return nil }
    guard let page = HostedPage(response) else {
      throw .malformedResponse("navigation.contains", response)
    }
    return page
  }

  /// Puts a page on the stack that this client has opened by other means. The server does not ask
  /// this client to open it.
  ///
  /// Throws ``CallError``: 2404 no route, 2405 not a page, 2429 a full stack.
  ///
  /// - Parameters:
  ///   - uri: the page's URI.
  ///   - params: the page's parameters, which override those of the URI.
  ///   - style: `push` or `present`; nil is `push`.
  ///   - host: the host that closes the page later; nil means the last registered host of the URI's
  ///     scheme.
  @discardableResult
  public func adopt(
    _ uri: String, _ params: ValueObject = [:], style: Style? = nil, host: (any PageHost)? = nil
  ) async throws(CallError) -> HostedPage {
    var adopted: ValueObject = ["uri": .string(uri), "params": .object(params)]
    adopted["style"] = style.map { .string($0.rawValue) }
    // Registered as soon as the response arrives: the server's next message may concern the page.
    let response = try await perform(
      "navigation.adopt", .object(adopted),
      onResponse: { [self] in if let page = HostedPage($0) { addAdoptedPage(page, host) } })
    guard let page = HostedPage(response) else {
      throw .malformedResponse("navigation.adopt", response)
    }
    return page
  }

  private func requestChange(
    _ method: String, _ params: ValueObject
  ) async throws(CallError) -> NavigationChange {
    let response = try await perform(method, .object(params))
    guard let change = NavigationChange(response) else {
      throw .malformedResponse(method, response)
    }
    return change
  }
}
