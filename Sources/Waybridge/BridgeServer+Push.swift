import WaySession

// What the app does in its sessions without being asked. Usable from any thread, from `onListening`
// on until `run()` ends. All of it but `deliver` throws ``CallError`` with the code 2503 while the
// server does not run.
extension BridgeServer {
  /// Opens a page in each session of an audience, and returns when each is shown or refused; a task
  /// is run to its end.
  ///
  /// ```swift
  /// for delivery in try await server.open("native://offer/7", in: .user("anna")) {
  ///   print(try await delivery.result.get().outcome())
  /// }
  /// ```
  ///
  /// Cancelling the awaiting task takes back what is not shown yet.
  ///
  /// - Parameters:
  ///   - uri: what is opened, as in `router.open`.
  ///   - params: its parameters; they win over those of the query and the path.
  ///   - exts: what is no business data (`animated`, …); reaches the host as it is.
  ///   - style: how the page comes onto the stack; nil for the one that its route declares.
  ///   - audience: for a client, its session: the page is opened as that client would.
  ///   - timeout: how long a page may take to be shown, or a task to run: a millisecond to a day;
  ///     past it the result is the error 2408.
  ///   - carrying: values of any type, for Swift code of this process, which takes them with
  ///     ``Call/carried(_:as:)``; where a client serves the URI, the result is the error 2405.
  /// - Returns: one delivery for each session, in no order. Errors are those of `router.open`
  ///   (PROTOCOL.md). Empty where nobody is in the audience.
  public func open(
    _ uri: String, params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    in audience: Audience, timeout: Duration = .seconds(10), carrying: [String: any Sendable] = [:]
  ) async throws(CallError) -> [Delivery<OpenedPage>] {
    try await group().allServers.open(
      uri, params, exts: exts, style: style, in: audience, timeout: timeout, carrying: carrying)
  }

  /// Calls a method of every client of an audience: one that the app has agreed on with them, so
  /// none of the protocol's (-32602). A client without such a method answers -32601.
  ///
  /// Cancelling the awaiting task takes the calls back (`$/cancelRequest`).
  ///
  /// - Parameters:
  ///   - method: the name that clients know it by.
  ///   - params: what it is given.
  ///   - audience: whose clients are asked.
  ///   - timeout: how long a client may take to answer: a millisecond to a day; past it, or when the
  ///     client leaves, the result is the error 2504.
  /// - Returns: one delivery for each client, in no order, with its value or its error as it is.
  public func call(
    _ method: String, _ params: ValueObject = [:], of audience: Audience,
    timeout: Duration = .seconds(10)
  ) async throws(CallError) -> [Delivery<Value>] {
    try await group().allServers.call(method, params, of: audience, timeout: timeout)
  }

  /// Calls a method of one page: of the client that runs in it, else of its host (`page.call`).
  ///
  /// Throws ``CallError``: 2404 where there is no such session or page, 2504 where nobody answers
  /// for the page or leaves, 2408 past `timeout` (a millisecond to a day), 2502 or the app's own
  /// code as the client answers.
  public func call(
    page: String, in session: String, _ method: String, _ params: ValueObject = [:],
    timeout: Duration = .seconds(10)
  ) async throws(CallError) -> Value {
    try await group().allServers.call(page: page, in: session, method, params, timeout: timeout)
  }

  /// Hands a link from outside (of a push message, a shortcut, a universal link) to every session
  /// of an audience; where there is none yet, the next one that belongs to it gets the link. Each
  /// session follows its links one after another, as soon as somebody can open them; the pages that
  /// the route declares as `parents` come first. A link that comes before the server runs waits for
  /// it.
  ///
  /// Throws ``CallError``: -32602 for a text that is no URI with a scheme, 2429 when
  /// ``Limits/maxLinks`` wait already.
  public func deliver(_ link: DeepLink, to audience: Audience = .all) async throws(CallError) {
    try await group(orKeeping: link, for: audience)?.allServers.deliver(link, to: audience)
  }

  /// Hands over a link in the shape of an older server, `{action, action_url, params}`, as
  /// ``deliver(_:to:)`` does: the router's actions say what it means now
  /// (``RouterSnapshot/link(action:url:params:)``).
  ///
  /// Throws ``CallError`` as that does, and 2404 for an unknown action without a URL, 2422 for one
  /// without the URL that its target needs.
  public func deliver(
    action: String, url: String?, params: ValueObject = [:], to audience: Audience = .all
  ) async throws(CallError) {
    try await deliver(router.snapshot().delivered(action, url, params), to: audience)
  }

  /// The sessions of an audience as they are now, in no order. Throws only while the server does
  /// not run.
  public func sessions(_ audience: Audience = .all) async throws(CallError) -> [SessionInfo] {
    try await group().allServers.sessions(audience)
  }

  /// Puts a session into a group. Throws 2404 where there is no such session.
  public func add(session: String, toGroup group: String) async throws(CallError) {
    try await self.group().allServers.add(session: session, toGroup: group)
  }

  /// Takes a session out of a group, where it is in it. Throws 2404 where there is no such session.
  public func remove(session: String, fromGroup group: String) async throws(CallError) {
    try await self.group().allServers.remove(session: session, fromGroup: group)
  }
}
