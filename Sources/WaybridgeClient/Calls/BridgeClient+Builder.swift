import WayNavigation
import WayValues

extension BridgeClient {
  /// Begins a call that is built step by step.
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
  /// Sets the id of the page that opens another; nil means the page that the client runs in. Has no
  /// effect on `invoke`.
  public func from(_ page: String?) -> Self {
    changed { $0.from = page }
  }

  /// Sets the idempotency key, the `key` of
  /// ``BridgeClient/invoke(_:_:exts:timeout:key:onProgress:)``: the call runs once, even if
  /// connections and sessions are lost. nil sets none.
  public func key(_ key: String?) -> Self {
    changed { $0.key = key }
  }

  /// Opens the URI, as ``BridgeClient/open(_:_:exts:style:from:timeout:key:onShown:onProgress:)``
  /// does with the same arguments, and throws the same errors.
  public func open(
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Outcome {
    try await caller.open(
      uri, params, exts: exts, style: style, from: from, timeout: timeout, key: key,
      onShown: onShown, onProgress: onProgress)
  }

  /// Runs the task or service, as ``BridgeClient/invoke(_:_:exts:timeout:key:onProgress:)`` does
  /// with the same arguments, and throws the same errors.
  public func invoke(
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    try await caller.invoke(
      uri, params, exts: exts, timeout: timeout, key: key, onProgress: onProgress)
  }
}
