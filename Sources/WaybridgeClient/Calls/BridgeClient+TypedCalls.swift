import WayNavigation
import WayValues

// Calls with typed results, as `waybridge routes generate` creates them from a route table.
extension BridgeClient {
  /// Opens a page, as ``open(_:_:exts:style:from:timeout:key:onShown:onProgress:)`` does with the
  /// same arguments, and decodes its result.
  ///
  /// Throws the same errors. Also throws -32602 for parameters that the URI cannot have. If the
  /// result does not decode, throws -32603 of the kind `malformed` with the path of the mismatch.
  public func open<Result>(
    _ call: PageCall<Result>, exts: ValueObject = [:], style: Style? = nil, from: String? = nil,
    timeout: Duration? = nil, key: String? = nil,
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> PageOutcome<Result> {
    try call.check()
    return try call.decode(
      try await open(
        call.uri, call.params, exts: exts, style: style, from: from, timeout: timeout, key: key,
        onShown: onShown, onProgress: onProgress))
  }

  /// Runs a task or a service, as ``invoke(_:_:exts:timeout:key:onProgress:)`` does with the same
  /// arguments, and decodes its value. Throws the same errors, and those of
  /// ``open(_:exts:style:from:timeout:key:onShown:onProgress:)``.
  public func invoke<Result>(
    _ call: ValueCall<Result>, exts: ValueObject = [:], timeout: Duration? = nil,
    key: String? = nil, onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Result {
    try call.check()
    return try call.decode(
      try await invoke(
        call.uri, call.params, exts: exts, timeout: timeout, key: key, onProgress: onProgress))
  }

  /// Calls a method of a page, as ``call(page:method:params:timeout:key:onProgress:)`` does with
  /// the same arguments, and decodes its result. Throws the same errors, and those of
  /// ``open(_:exts:style:from:timeout:key:onShown:onProgress:)``.
  public func call<Result>(
    page: String, _ call: PageMethodCall<Result>, timeout: Duration? = nil, key: String? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Result {
    try call.check()
    return try call.decode(
      try await self.call(
        page: page, method: call.method, params: call.params, timeout: timeout, key: key,
        onProgress: onProgress))
  }

  /// The events of a topic, decoded as its type.
  public typealias TopicEvents<Data: Codable & Sendable> =
    AsyncThrowingMapSequence<Events, TopicEvent<Data>>

  /// Subscribes to a topic of the app, as ``events(_:buffer:)`` does. The stream also throws if an
  /// event does not decode as its type: -32603 of the kind `malformed`, with the path of the
  /// mismatch.
  public func events<Data>(
    of topic: EventTopic<Data>, buffer: Int = 1024
  ) async throws(CallError) -> TopicEvents<Data> {
    try await events([topic.name], buffer: buffer).map { event in
      try TopicEvent(topic, event.data, at: event.at)
    }
  }

  /// Publishes an event of a topic of generated code, as ``publish(_:_:retain:)-(String,_,_)`` does.
  /// Throws the same errors, and -32602 for data that cannot be encoded as JSON.
  @discardableResult
  public func publish<Data>(
    _ topic: EventTopic<Data>, _ data: Data, retain: Int = 0
  ) async throws(CallError) -> PublishReceipt {
    let value: Value
    do { value = try ValueEncoder().encode(data) } catch {
      throw .invalidParams("The data of \(topic.name) cannot be encoded as JSON: \(error)")
    }
    return try await publish(topic.name, value, retain: retain)
  }
}
