import WaySession

// Calls that the app makes in its sessions. Usable from any thread, from `onListening` until
// `run()` ends. All methods except `deliver` throw ``CallError`` with the code 2503 while the
// server does not run.
extension BridgeServer {
  /// Opens a page in each session of an audience, and returns when each is shown or rejected; a
  /// task is run to its end.
  ///
  /// ```swift
  /// for delivery in try await server.open("native://offer/7", in: .user("anna")) {
  ///   print(try await delivery.result.get().outcome())
  /// }
  /// ```
  ///
  /// Cancelling the awaiting task withdraws pages that are not shown yet.
  ///
  /// - Parameters:
  ///   - uri: the URI to open, as in `router.open`.
  ///   - params: the parameters, which override those of the query and the path.
  ///   - exts: extensions that are not business data (`animated`, …); they reach the host
  ///     unchanged.
  ///   - style: how the page is placed on the stack; nil for the style that its route declares.
  ///   - audience: the sessions; for a client, its session, in which the page is opened as that
  ///     client would.
  ///   - timeout: how long a page may take to be shown, or a task to run: a millisecond to a day.
  ///     After that the result is the error 2408.
  ///   - attachments: values of any type for Swift code of this process, which reads them with
  ///     ``Call/attachment(_:as:)``. If a client serves the URI, the result is the error 2405.
  /// - Returns: one delivery for each session, in no order. Errors are those of `router.open`
  ///   (PROTOCOL.md). Empty if the audience is empty.
  public func open(
    _ uri: String, params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    in audience: Audience, timeout: Duration = .seconds(10),
    attachments: [String: any Sendable] = [:]
  ) async throws(CallError) -> [Delivery<OpenedPage>] {
    try await sessionServer().dispatch.open(
      uri, params, exts: exts, style: style, in: audience, timeout: timeout, carrying: attachments)
  }

  /// Calls a method of every client of an audience. The app defines the method; methods of the
  /// protocol are rejected (-32602). A client without such a method responds with -32601.
  ///
  /// Cancelling the awaiting task cancels the calls (`$/cancelRequest`).
  ///
  /// - Parameters:
  ///   - method: the method's name.
  ///   - params: the parameters of the method.
  ///   - audience: the clients to call.
  ///   - timeout: how long a client may take to respond: a millisecond to a day. After that, or if
  ///     the client leaves, the result is the error 2504.
  /// - Returns: one delivery for each client, in no order, with its value or its error unchanged.
  ///   For a client that has lost its connection, it is the error 2504 of the kind `waiting`, at
  ///   once: the client gets the request if it is back within the timeout.
  public func call(
    _ method: String, _ params: ValueObject = [:], of audience: Audience,
    timeout: Duration = .seconds(10)
  ) async throws(CallError) -> [Delivery<Value>] {
    try await sessionServer().dispatch.call(method, params, of: audience, timeout: timeout)
  }

  /// Calls a method of one page: in the client that runs in it, otherwise in its host
  /// (`page.call`).
  ///
  /// Throws ``CallError``:
  /// - 2404 if there is no such session or page
  /// - 2504 if no client responds for the page or the client leaves
  /// - 2408 after `timeout` (a millisecond to a day)
  /// - 2502 or the app's own code if the client responds with an error
  public func call(
    page: String, in session: String, _ method: String, _ params: ValueObject = [:],
    timeout: Duration = .seconds(10)
  ) async throws(CallError) -> Value {
    try await sessionServer().dispatch.call(
      page: page, in: session, method, params, timeout: timeout)
  }

  /// Delivers a deep link (of a push message, a shortcut, a universal link) to every session of an
  /// audience. If there is none yet, the next session of the audience gets the link.
  ///
  /// Each session runs its links one after another, as soon as a connected client can open them.
  /// Pages that the route declares as `parents` are opened first. A link that is delivered before
  /// the server runs waits for it. With ``DeepLink/key``, a retry has no second effect.
  ///
  /// - Returns: how many sessions follow the link, and in how many it waits. If
  ///   ``DeliveryReceipt/delivered`` is 0, the app can use another service, such as the push service
  ///   of the platform.
  ///
  /// Throws ``CallError``: -32602 for an invalid URI or one without a scheme, 2409 if the key stands
  /// for another link, 2429 if ``Limits/maxLinks`` links already wait for a session or an audience.
  @discardableResult
  public func deliver(
    _ link: DeepLink, to audience: Audience = .all
  ) async throws(CallError) -> DeliveryReceipt {
    guard let running = try sessionServer(orQueueing: link, for: audience) else {
      return DeliveryReceipt(waiting: 1)
    }
    return try await running.dispatch.deliver(link, to: audience)
  }

  /// Delivers a deep link in the format of an older server, `{action, action_url, …}`, as
  /// ``deliver(_:to:)`` does. The router's actions map it to a current link.
  ///
  /// Throws ``CallError`` as ``deliver(_:to:)``. Also throws 2404 for an unknown action without a
  /// URL, and 2422 for an action without the URL that its target needs.
  @discardableResult
  public func deliver(
    action: String, url: String?, params: ValueObject = [:], exts: ValueObject = [:],
    style: Style? = nil, key: String? = nil, to audience: Audience = .all
  ) async throws(CallError) -> DeliveryReceipt {
    try await deliver(
      router.snapshot().legacyDeepLink(
        action, url, params, exts: exts, style: style, key: key),
      to: audience)
  }

  /// Returns the current sessions of an audience, in no order. Throws only while the server does
  /// not run.
  public func sessions(_ audience: Audience = .all) async throws(CallError) -> [SessionInfo] {
    try await sessionServer().dispatch.sessions(audience)
  }

  /// Ends a session: its clients are disconnected with 4003 and cannot resume. Returns the ids of
  /// the clients. Throws 2404 if there is no such session, and 2503 if it moves to another server
  /// meanwhile.
  @discardableResult
  public func end(session: String) async throws(CallError) -> [String] {
    try await sessionServer().dispatch.revoke(SessionRevocation(session: session), by: nil)
  }

  /// Disconnects a client with 4003, and the guests that it has invited. They cannot resume, and
  /// the invitations of all of them, and the session's join token, are void. Returns their ids.
  /// Throws 2404 if there is no such session or client, and 2503 if the session moves to another
  /// server meanwhile.
  @discardableResult
  public func disconnect(
    client: String, of session: String
  ) async throws(CallError) -> [String] {
    try await sessionServer().dispatch.revoke(
      SessionRevocation(session: session, client: client), by: nil)
  }

  /// Adds a session to a group. Throws 2404 if there is no such session.
  public func add(session: String, toGroup group: String) async throws(CallError) {
    try await self.sessionServer().dispatch.add(session: session, toGroup: group)
  }

  /// Removes a session from a group, if it is in it. Throws 2404 if there is no such session.
  public func remove(session: String, fromGroup group: String) async throws(CallError) {
    try await self.sessionServer().dispatch.remove(session: session, fromGroup: group)
  }
}
