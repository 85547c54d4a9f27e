import WayNavigation
import WayValues

// The session's stack. A page is referred to by its id, or by its URI, which means the nearest page
// from the top with the same route and path parameters.
extension BridgeClient {
  /// Goes back, through modal stacks; the root stays. A page is named by its id, a URI or the name
  /// of its route.
  ///
  /// Throws ``CallError``: -32602 for a negative count, 2404 for a page that is not on the stack,
  /// 2409 for a result when no page closes.
  ///
  /// - Parameters:
  ///   - target: how far.
  ///   - result: for the opener of the lowest page that closes.
  ///   - exts: what the hosts of the pages that close are told, `animated` for instance.
  @discardableResult
  public func back(
    _ target: BackTarget<String>, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    var params = target.params
    params["result"] = result?.value
    if !exts.isEmpty { params["exts"] = .object(exts) }
    return try await change("navigation.back", params)
  }

  /// Goes back by so many pages. Throws as ``back(_:result:exts:)-(BackTarget<String>,_,_)``.
  @discardableResult
  public func back(
    _ count: Int = 1, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    try await back(.count(count), result: result, exts: exts)
  }

  /// Closes a page and gives its opener the result; pages above it are dismissed.
  ///
  /// Throws ``CallError``: 2404 when the page is not on the stack, since a page ends once; -32602
  /// without `page` from a client that runs in none.
  ///
  /// - Parameters:
  ///   - result: nil gives none.
  ///   - page: the page's id; nil means the page that this client runs in.
  ///   - exts: what the hosts of the pages that close are told, `animated` for instance.
  @discardableResult
  public func finish(
    _ result: PageResult? = nil, page: String? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    var params: ValueObject = [:]
    params["page"] = page.map(Value.string)
    params["result"] = result?.value
    if !exts.isEmpty { params["exts"] = .object(exts) }
    return try await change("navigation.finish", params)
  }

  /// Shows a tab by its index, from 0 in the order of the route table.
  ///
  /// Throws ``CallError``: 2404 when there is no such tab, and as
  /// ``open(_:_:exts:style:from:deadline:key:onShown:onProgress:)`` where the tab's first page has to
  /// be opened.
  @discardableResult
  public func selectTab(_ index: Int) async throws(CallError) -> NavigationChange {
    try await change("navigation.selectTab", ["index": .integer(Int64(index))])
  }

  /// Shows the tab with this URI of its first page. Throws as ``selectTab(_:)-(Int)``.
  @discardableResult
  public func selectTab(_ uri: String) async throws(CallError) -> NavigationChange {
    try await change("navigation.selectTab", ["uri": .string(uri)])
  }

  /// All pages of the session. Throws ``CallError`` when the connection is lost.
  public func stack() async throws(CallError) -> Stack {
    let answer = try await perform("navigation.stack", nil)
    guard let stack = Stack(answer) else { throw .malformed("navigation.stack", answer) }
    return stack
  }

  /// The page on the stack that is meant by an id, a URI or the name of a route; nil where there is
  /// none. Throws ``CallError`` -32602 for what is none of these.
  public func contains(_ page: String) async throws(CallError) -> Page? {
    let answer = try await perform("navigation.contains", ["uri": .string(page)])
    if answer.isNull { return nil }
    guard let page = Page(answer) else { throw .malformed("navigation.contains", answer) }
    return page
  }

  /// Puts a page on the stack that this client has opened by other means: it is not asked for the
  /// page again.
  ///
  /// Throws ``CallError``: 2404 no route, 2405 no page, 2429 a full stack.
  ///
  /// - Parameters:
  ///   - uri: the page's URI.
  ///   - params: the page's parameters, which win over those of the URI.
  ///   - style: `push` or `present`; nil is `push`.
  ///   - host: closes the page later; nil means the last registered host of the URI's scheme.
  @discardableResult
  public func adopt(
    _ uri: String, _ params: ValueObject = [:], style: Style? = nil, host: (any PageHost)? = nil
  ) async throws(CallError) -> Page {
    var adopted: ValueObject = ["uri": .string(uri), "params": .object(params)]
    adopted["style"] = style.map { .string($0.rawValue) }
    // Kept as soon as the server says so: what it says next may be about the page.
    let answer = try await perform(
      "navigation.adopt", .object(adopted),
      onAnswer: { [self] in if let page = Page($0) { keepAdopted(page, host) } })
    guard let page = Page(answer) else { throw .malformed("navigation.adopt", answer) }
    return page
  }

  private func change(
    _ method: String, _ params: ValueObject
  ) async throws(CallError) -> NavigationChange {
    let answer = try await perform(method, .object(params))
    guard let change = NavigationChange(answer) else { throw .malformed(method, answer) }
    return change
  }
}
