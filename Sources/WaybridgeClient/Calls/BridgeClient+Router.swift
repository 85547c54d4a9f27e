import WayNavigation
import WayValues

// Opening pages, running tasks, and asking the router.
extension BridgeClient {
  /// Opens a page, whoever shows it, and returns when it is gone; of a task, when it has run.
  /// Leaving a page without a result is an outcome, not an error.
  ///
  /// Throws ``CallError`` when the page does not open: 2404 no route, 2504 no host, 2502 the host
  /// refuses, 2408 too late, -32800 cancelled before it was shown, … Cancelling the Swift task
  /// afterwards closes the page; the outcome is then ``Outcome/Kind/cancelled``.
  ///
  /// - Parameters:
  ///   - uri: the page's, or the task's.
  ///   - params: the caller's parameters, which win over those of the URI.
  ///   - exts: what is no business of the page, `animated` for instance; it reaches the host as it
  ///     is.
  ///   - style: how the page takes its place; nil leaves it to the server, which pushes.
  ///   - from: the id of the page that opens; nil means the one that this client runs in.
  ///   - deadline: within this time the page must be shown, or the task done: 1 ms to 24 days.
  ///   - key: makes it once, whatever happens to connections and sessions: the same call under the
  ///     same key, 1 to 128 bytes, waits for the same outcome or is given it, and a client whose session is
  ///     lost asks it again. Another call under a key that is in use is 2409. nil for none.
  ///   - onShown: gets the page's id once it is shown, on the client's thread.
  ///   - onProgress: gets what a task tells of its progress, on the client's thread.
  public func open(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    from: String? = nil, deadline: Duration? = nil, key: String? = nil,
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Outcome {
    var call = try Self.call(uri, params, exts, deadline, key)
    call["style"] = style.map { .string($0.rawValue) }
    call["from"] = from.map(Value.string)
    let answer = try await perform(
      "router.open", .object(call), patience: Self.patience(deadline),
      onProgress: { value in
        if let page = value["opened"]?["page"]?.string {
          onShown?(page)
        } else {
          onProgress?(value)
        }
      })
    guard let outcome = Outcome(answer) else { throw .malformed("router.open", answer) }
    return outcome
  }

  /// Runs a task or a service and returns its value.
  ///
  /// Throws ``CallError``: what the task failed with, 2404 no route, 2405 a page, 2504 no host,
  /// 2408 too late, -32800 cancelled, …
  ///
  /// - Parameters:
  ///   - uri: the task's.
  ///   - params: the caller's parameters, which win over those of the URI.
  ///   - exts: what is no business of the task; it gets it as it is.
  ///   - deadline: within this time it must have run: 1 ms to 24 days.
  ///   - key: makes it once, whatever happens to connections and sessions: the same call under the
  ///     same key, 1 to 128 bytes, waits for the same value or is given it, and a client whose session is
  ///     lost asks it again. Another call under a key that is in use is 2409. nil for none.
  ///   - onProgress: gets what it tells of its progress, on the client's thread.
  public func invoke(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], deadline: Duration? = nil,
    key: String? = nil, onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    try await perform(
      "router.invoke", .object(try Self.call(uri, params, exts, deadline, key)),
      patience: Self.patience(deadline), onProgress: onProgress)
  }

  /// Whether something would open it or run it now; nothing of that happens. Throws ``CallError``
  /// -32602 for what is no URI.
  public func canOpen(_ uri: String) async throws(CallError) -> Bool {
    try await destination(of: uri) != nil
  }

  /// Where a URI leads now, without going there; nil where nothing would open it or run it. Throws
  /// as ``canOpen(_:)`` does.
  public func destination(of uri: String) async throws(CallError) -> Destination? {
    let answer = try await perform("router.canOpen", ["uri": .string(uri)])
    guard let canOpen = answer["canOpen"]?.bool else { throw .malformed("router.canOpen", answer) }
    guard canOpen else { return nil }
    guard let kind = answer["kind"]?.string.flatMap(RouteKind.init(rawValue:)) else {
      throw .malformed("router.canOpen", answer)
    }
    return Destination(kind: kind, route: answer["route"]?.string)
  }

  /// How the router reads a URI: candidates, match, parameters and why not, as PROTOCOL.md
  /// describes it. Nothing is run. A text that is no URI is explained too, and throws no
  /// ``CallError`` on that account.
  public func explain(
    _ uri: String, _ params: ValueObject = [:]
  ) async throws(CallError) -> Value {
    try await perform("router.explain", ["uri": .string(uri), "params": .object(params)])
  }

  /// Hands over a link from outside of the app: of a push message, a shortcut, a universal link.
  /// Returns when the server has it, which follows it as soon as somebody can open it; what becomes
  /// of it is told by events.
  ///
  /// Throws ``CallError``: -32602 for what is no URI with a scheme, 2429 where too many wait.
  public func deliver(_ uri: String, _ params: ValueObject = [:]) async throws(CallError) {
    try await deliver(["uri": .string(uri)], params)
  }

  /// Hands over a link in the shape of older servers, `{action, action_url}`, as
  /// ``deliver(_:_:)``.
  ///
  /// Throws ``CallError`` as that does, 2404 for an action that the table does not have where there
  /// is no URL, 2422 for one that needs a URL.
  public func deliver(
    action: String, url: String? = nil, _ params: ValueObject = [:]
  ) async throws(CallError) {
    var link: ValueObject = ["action": .string(action)]
    link["action_url"] = url.map(Value.string)
    try await deliver(link, params)
  }

  private func deliver(_ link: ValueObject, _ params: ValueObject) async throws(CallError) {
    var link = link
    if !params.isEmpty { link["params"] = .object(params) }
    _ = try await perform("router.deliver", .object(link))
  }

  /// The declared routes, each an object `{name, patterns, kind, priority, title?, purpose?,
  /// parameters?, result?}`. Throws ``CallError`` when the connection is lost.
  public func routes() async throws(CallError) -> [Value] {
    let answer = try await perform("router.routes", nil)
    guard let routes = answer.list else { throw .malformed("router.routes", answer) }
    return routes
  }

  /// Calls a method of a page, in the client that runs in it or else shows it.
  ///
  /// Throws ``CallError``: what the page answers, 2404 when there is no such page, 2504 when nobody
  /// answers for it.
  ///
  /// - Parameters:
  ///   - page: the page's id.
  ///   - method: a name that the page knows.
  ///   - params: what the method is given.
  ///   - deadline: within this time it must have answered: 1 ms to 24 days.
  ///   - key: makes it once, whatever happens to connections and sessions: the same call under the
  ///     same key, 1 to 128 bytes, waits for the same value or is given it, and a client whose session is
  ///     lost asks it again. Another call under a key that is in use is 2409. nil for none.
  ///   - onProgress: gets what the page tells of its progress, on the client's thread.
  public func call(
    page: String, method: String, params: ValueObject = [:], deadline: Duration? = nil,
    key: String? = nil, onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    var call: ValueObject = ["page": .string(page), "method": .string(method)]
    if !params.isEmpty { call["params"] = .object(params) }
    call["deadlineMs"] = try deadline.map(Self.milliseconds).map(Value.integer)
    call["key"] = key.map(Value.string)
    return try await perform(
      "page.call", .object(call), patience: Self.patience(deadline), onProgress: onProgress)
  }

  private static func call(
    _ uri: String, _ params: ValueObject, _ exts: ValueObject, _ deadline: Duration?,
    _ key: String?
  ) throws(CallError) -> ValueObject {
    var call: ValueObject = ["uri": .string(uri)]
    if !params.isEmpty { call["params"] = .object(params) }
    if !exts.isEmpty { call["exts"] = .object(exts) }
    if let deadline { call["deadlineMs"] = .integer(try milliseconds(deadline)) }
    call["key"] = key.map(Value.string)
    return call
  }
}

extension BridgeClient {
  /// Where a URI leads.
  public struct Destination: Sendable, Hashable {
    /// Whether it is opened as a page, or run.
    public let kind: RouteKind
    /// The name of the declared route; nil where a host takes the URI without one.
    public let route: String?
  }
}
