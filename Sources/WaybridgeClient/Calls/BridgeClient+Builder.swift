import WayNavigation
import WayValues

extension BridgeClient {
  /// Begins a call that is put together step by step.
  ///
  /// ```swift
  /// func rename(_ client: BridgeClient) async throws -> Outcome {
  ///   try await client.build("native://profile/7").with("name", "Ada").style(.present).open()
  /// }
  /// ```
  public nonisolated func build(_ uri: String) -> CallBuilder<BridgeClient> {
    CallBuilder(self, uri)
  }
}

extension CallBuilder where Caller == BridgeClient {
  /// The id of the page that opens another; nil means the one that the client runs in. For what is
  /// invoked it is of no account.
  public func from(_ page: String?) -> Self {
    changed { $0.from = page }
  }

  /// Makes it once, whatever happens to connections and sessions, as with `key` of
  /// ``BridgeClient/invoke(_:_:exts:deadline:key:onProgress:)``; nil for none.
  public func key(_ key: String?) -> Self {
    changed { $0.key = key }
  }

  /// Opens it, as ``BridgeClient/open(_:_:exts:style:from:deadline:key:onShown:onProgress:)`` with the
  /// same arguments, and throws as that does.
  public func open(
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Outcome {
    try await caller.open(
      uri, params, exts: exts, style: style, from: from, deadline: deadline, key: key,
      onShown: onShown, onProgress: onProgress)
  }

  /// Runs it, as ``BridgeClient/invoke(_:_:exts:deadline:key:onProgress:)`` with the same arguments,
  /// and throws as that does.
  public func invoke(
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    try await caller.invoke(
      uri, params, exts: exts, deadline: deadline, key: key, onProgress: onProgress)
  }
}
