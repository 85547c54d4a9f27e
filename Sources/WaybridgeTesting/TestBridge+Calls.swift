import Waybridge
import WaybridgeClient

// The most used calls of the client that is there from the start. Unlike those of
// ``TestBridge/client`` itself they give up when the real time is over, and settle before they
// return.
extension TestBridge {
  /// Opens a page and returns when it is gone; of a task, when it has run.
  ///
  /// Throws `CallError` as `BridgeClient.open(_:_:exts:style:from:deadline:key:onShown:onProgress:)`
  /// does, and 2408 when the page is still shown after ten seconds of real time, unless told
  /// otherwise.
  public func open(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    from: String? = nil, deadline: Duration? = nil,
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Outcome {
    try await result(of: "the outcome of \(uri)") { (client) throws(CallError) in
      try await client.open(
        uri, params, exts: exts, style: style, from: from, deadline: deadline, onShown: onShown,
        onProgress: onProgress)
    }
  }

  /// Runs a task or a service and returns its value.
  ///
  /// Throws `CallError` as `BridgeClient.invoke(_:_:exts:deadline:key:onProgress:)` does, and 2408 when
  /// it has not run after ten seconds of real time, unless told otherwise.
  public func invoke(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], deadline: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    try await result(of: "the value of \(uri)") { (client) throws(CallError) in
      try await client.invoke(uri, params, exts: exts, deadline: deadline, onProgress: onProgress)
    }
  }

  /// Whether something would open it or run it now; nothing of that happens. Throws `CallError`
  /// -32602 for what is no URI.
  public func canOpen(_ uri: String) async throws(CallError) -> Bool {
    try await result(of: "whether \(uri) can be opened") { (client) throws(CallError) in
      try await client.canOpen(uri)
    }
  }

  /// Goes back, as `BridgeClient.back(_:result:exts:)` does, and throws as that.
  @discardableResult
  public func back(
    _ target: BackTarget<String>, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    try await self.result(of: "going back") { (client) throws(CallError) in
      try await client.back(target, result: result, exts: exts)
    }
  }

  /// Goes back by so many pages. Throws `CallError` as
  /// ``back(_:result:exts:)-(BackTarget<String>,_,_)``.
  @discardableResult
  public func back(
    _ count: Int = 1, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws(CallError) -> NavigationChange {
    try await back(.count(count), result: result, exts: exts)
  }

  /// All pages of the session. Throws `CallError` 2503 once the connection is closed.
  public func stack() async throws(CallError) -> BridgeClient.Stack {
    try await result(of: "the stack") { (client) throws(CallError) in try await client.stack() }
  }

  /// Hands a link from outside to the session, which follows it as soon as somebody can open it,
  /// its parents first.
  ///
  /// Throws `CallError`: -32602 for a text that is no URI with a scheme, 2429 when
  /// `Limits.maxLinks` wait already.
  public func deliver(_ uri: String, _ params: ValueObject = [:]) async throws(CallError) {
    try await server.deliver(DeepLink(uri, params: params), to: .session(session.id))
    await loop.settle()
  }

  private func result<Success: Sendable>(
    of what: String,
    _ call: @escaping @Sendable (BridgeClient) async throws(CallError) -> Success
  ) async throws(CallError) -> Success {
    let client = client
    let loop = loop
    return try await patience.result(of: what) { () throws(CallError) in
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
