import WayNavigation
import WayValues

// Opening pages, running tasks and querying the router.
extension BridgeClient {
  /// Opens a page on any host and returns when the page has closed. For a task, returns when it has
  /// run. Leaving a page without a result is an outcome, not an error.
  ///
  /// Throws ``CallError`` if the page does not open: 2404 no route, 2504 no host, 2502 rejected by
  /// the host, 2408 timed out, -32800 cancelled before it was shown, … Cancelling the Swift task
  /// later closes the page; the outcome is then ``Outcome/OutcomeKind/cancelled``.
  ///
  /// - Parameters:
  ///   - uri: the URI of the page or task.
  ///   - params: the caller's parameters, which override those of the URI.
  ///   - exts: extensions that are not data of the page, for example `animated`; they reach the
  ///     host unchanged.
  ///   - style: how the page is placed on the stack; nil leaves it to the server, which pushes.
  ///   - from: the id of the page that opens; nil means the page that this client runs in.
  ///   - timeout: the time in which the page must be shown or the task completed, 1 ms to 24 days.
  ///   - key: an idempotency key, 1 to 128 bytes; nil for none. The call runs once, even if
  ///     connections and sessions are lost. The same call with the same key waits for the same
  ///     outcome or receives it, and a client whose session is lost repeats it. A different call
  ///     with a key in use throws 2409.
  ///   - onShown: receives the page's id once it is shown, on the client's thread.
  ///   - onProgress: receives the progress that a task reports, on the client's thread.
  public func open(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    from: String? = nil, timeout: Duration? = nil, key: String? = nil,
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Outcome {
    var call = RouterCallParams(uri: uri, params, exts, style, key)
    call.from = from
    call.deadlineMs = try timeout.map(Self.milliseconds)
    let response = try await perform(
      "router.open", call.value, timeout: Self.responseTimeout(timeout),
      onProgress: { value in
        if let page = value["opened"]?["page"]?.string {
          onShown?(page)
        } else {
          onProgress?(value)
        }
      })
    guard let outcome = Outcome(response) else { throw .malformedResponse("router.open", response) }
    return outcome
  }

  /// Runs a task or a service and returns its value.
  ///
  /// Throws ``CallError``: the error of the task, 2404 no route, 2405 a page, 2504 no host, 2408
  /// timed out, -32800 cancelled, …
  ///
  /// - Parameters:
  ///   - uri: the task's URI.
  ///   - params: the caller's parameters, which override those of the URI.
  ///   - exts: extensions that are not data of the task; it receives them unchanged.
  ///   - timeout: the time in which the task must complete, 1 ms to 24 days.
  ///   - key: an idempotency key, 1 to 128 bytes; nil for none. The call runs once, even if
  ///     connections and sessions are lost. The same call with the same key waits for the same
  ///     value or receives it, and a client whose session is lost repeats it. A different call with
  ///     a key in use throws 2409.
  ///   - onProgress: receives the progress that the task reports, on the client's thread.
  public func invoke(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], timeout: Duration? = nil,
    key: String? = nil, onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    var call = RouterCallParams(uri: uri, params, exts, nil, key)
    call.deadlineMs = try timeout.map(Self.milliseconds)
    return try await perform(
      "router.invoke", call.value, timeout: Self.responseTimeout(timeout), onProgress: onProgress)
  }

  /// Returns whether the router could open or run the URI now, without doing so. Throws
  /// ``CallError`` -32602 for an invalid URI.
  public func canOpen(_ uri: String) async throws(CallError) -> Bool {
    try await destination(of: uri) != nil
  }

  /// Returns what a URI leads to now, without opening it; nil if nothing could open or run it.
  /// Throws as ``canOpen(_:)``.
  public func destination(of uri: String) async throws(CallError) -> RouteDestination? {
    let response = try await perform("router.canOpen", ["uri": .string(uri)])
    guard let message = try? response.decode(as: CanOpenMessage.self) else {
      throw .malformedResponse("router.canOpen", response)
    }
    guard message.canOpen else { return nil }
    guard let kind = message.kind.flatMap(RouteKind.init(rawValue:)) else {
      throw .malformedResponse("router.canOpen", response)
    }
    return RouteDestination(
      kind: kind, route: message.route, isHostAbsent: message.absent == true)
  }

  /// Returns how the router resolves a URI: candidates, match, parameters and reasons, as
  /// PROTOCOL.md describes. Nothing is run. An invalid URI is explained too; it does not cause a
  /// ``CallError``.
  public func explain(
    _ uri: String, _ params: ValueObject = [:]
  ) async throws(CallError) -> Value {
    try await perform("router.explain", ["uri": .string(uri), "params": .object(params)])
  }

  /// Delivers a deep link, for example from a push message, a shortcut or a universal link. Returns
  /// when the server has received the link. The server runs it as soon as a client can open it;
  /// events report the outcome.
  ///
  /// Throws ``CallError``: -32602 for an invalid URI or one without a scheme, 2409 for a key that
  /// another call uses, 2429 if too many links wait.
  ///
  /// - Parameters:
  ///   - uri: the URI of the page or task.
  ///   - params: the parameters, which override those of the URI.
  ///   - exts: extensions that are not data of the page, for example `animated`; they reach the
  ///     host unchanged.
  ///   - style: how the page is placed on the stack; nil leaves it to the server.
  ///   - key: an idempotency key, 1 to 128 bytes; nil for none. A link that the platform delivers
  ///     twice with the same key runs once.
  public func deliver(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    key: String? = nil
  ) async throws(CallError) {
    let link = RouterCallParams(uri: uri, params, exts, style, key)
    _ = try await perform("router.deliver", link.value)
  }

  /// Delivers a deep link in the format of older servers, `{action, action_url}`, as
  /// ``deliver(_:_:exts:style:key:)`` does.
  ///
  /// Throws ``CallError`` as ``deliver(_:_:exts:style:key:)``. Also throws 2404 for an unknown action
  /// without a URL, and 2422 for an action that needs a URL.
  public func deliver(
    action: String, url: String? = nil, _ params: ValueObject = [:], exts: ValueObject = [:],
    style: Style? = nil, key: String? = nil
  ) async throws(CallError) {
    var link = RouterCallParams(params, exts, style, key)
    link.action = action
    link.actionURL = url
    _ = try await perform("router.deliver", link.value)
  }

  /// Returns the declared routes, each an object
  /// `{name, patterns, kind, priority, title?, purpose?, parameters?, result?}`. Throws
  /// ``CallError`` if the connection is lost.
  public func routes() async throws(CallError) -> [Value] {
    let response = try await perform("router.routes", nil)
    guard let routes = response.array else { throw .malformedResponse("router.routes", response) }
    return routes
  }

  /// Calls a method of a page, in the client that runs in the page or else in the client that shows
  /// it.
  ///
  /// Throws ``CallError``: the error that the page returns, 2404 if there is no such page, 2504 if
  /// no client responds for it.
  ///
  /// - Parameters:
  ///   - page: the page's id.
  ///   - method: the name of a method of the page.
  ///   - params: the parameters of the method.
  ///   - timeout: the time in which the page must respond, 1 ms to 24 days.
  ///   - key: an idempotency key, 1 to 128 bytes; nil for none. The call runs once, even if
  ///     connections and sessions are lost. The same call with the same key waits for the same
  ///     value or receives it, and a client whose session is lost repeats it. A different call with
  ///     a key in use throws 2409.
  ///   - onProgress: receives the progress that the page reports, on the client's thread.
  public func call(
    page: String, method: String, params: ValueObject = [:], timeout: Duration? = nil,
    key: String? = nil, onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    var call = RouterCallParams(params, [:], nil, key)
    call.page = page
    call.method = method
    call.deadlineMs = try timeout.map(Self.milliseconds)
    return try await perform(
      "page.call", call.value, timeout: Self.responseTimeout(timeout), onProgress: onProgress)
  }
}

extension BridgeClient {
  /// The destination of a URI.
  public struct RouteDestination: Sendable, Hashable {
    /// Whether the URI is opened as a page or run.
    public let kind: RouteKind
    /// The name of the declared route; nil if a host accepts the URI without one.
    public let route: String?
    /// Whether the host has lost its connection; a call waits until the host is back or gone.
    public let isHostAbsent: Bool
  }
}
