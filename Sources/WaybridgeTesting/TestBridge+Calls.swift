import Waybridge
import WaybridgeClient

// The most used calls of the initial client. Unlike those of ``TestBridge/client`` itself they fail
// after the timeout in real time, and settle before they return.
extension TestBridge {
  /// Opens a page and returns when it has closed. For a task, returns when it has run.
  ///
  /// Throws `CallError` as `BridgeClient.open(_:_:exts:style:from:timeout:key:onShown:onProgress:)`
  /// does. Also throws 2408 if the page is still shown after the bridge's timeout, ten seconds of
  /// real time by default.
  public func open(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    from: String? = nil, timeout: Duration? = nil,
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Outcome {
    try await result(of: "the outcome of \(uri)") { (client) throws(CallError) in
      try await client.open(
        uri, params, exts: exts, style: style, from: from, timeout: timeout, onShown: onShown,
        onProgress: onProgress)
    }
  }

  /// Runs a task or a service and returns its value.
  ///
  /// Throws `CallError` as `BridgeClient.invoke(_:_:exts:timeout:key:onProgress:)` does. Also
  /// throws 2408 if it has not run after the bridge's timeout, ten seconds of real time by default.
  public func invoke(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], timeout: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    try await result(of: "the value of \(uri)") { (client) throws(CallError) in
      try await client.invoke(uri, params, exts: exts, timeout: timeout, onProgress: onProgress)
    }
  }

  /// Returns whether the router could open or run the URI now, without doing so. Throws `CallError`
  /// -32602 for an invalid URI.
  public func canOpen(_ uri: String) async throws(CallError) -> Bool {
    try await result(of: "whether \(uri) can be opened") { (client) throws(CallError) in
      try await client.canOpen(uri)
    }
  }

  /// Goes back, as `BridgeClient.back(_:result:exts:)` does, and throws the same errors.
  @discardableResult
  public func back(
    _ target: BackTarget<String>, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    try await self.result(of: "going back") { (client) throws(CallError) in
      try await client.back(target, result: result, exts: exts)
    }
  }

  /// Goes back by `count` pages. Throws `CallError` as
  /// ``back(_:result:exts:)-(BackTarget<String>,_,_)``.
  @discardableResult
  public func back(
    _ count: Int = 1, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    try await back(.count(count), result: result, exts: exts)
  }

  /// Returns all pages of the session. Throws `CallError` 2503 once the connection is closed.
  public func stack() async throws(CallError) -> BridgeClient.Stack {
    try await result(of: "the stack") { (client) throws(CallError) in try await client.stack() }
  }

  /// Delivers a deep link to the session, which runs it as soon as a client can open it, its
  /// parents first.
  ///
  /// Throws `CallError`: -32602 for an invalid URI or one without a scheme, 2429 if
  /// `Limits.maxLinks` links already wait.
  public func deliver(_ uri: String, _ params: ValueObject = [:]) async throws(CallError) {
    try await server.deliver(DeepLink(uri, params: params), to: .session(session.id))
    await loop.settle()
  }

  private func result<Success: Sendable>(
    of description: String,
    _ call: @escaping @Sendable (BridgeClient) async throws(CallError) -> Success
  ) async throws(CallError) -> Success {
    let client = client
    let loop = loop
    return try await timeout.result(of: description) { () throws(CallError) in
      do throws(CallError) {
        let value = try await call(client)
        await loop.settle()
        return value
      } catch {
        await loop.settle()
        throw error
      }
    }
  }
}
