import WayNavigation
import WayValues

// Calls that say what they give back, as `waybridge routes generate` makes them of a route table.
extension BridgeClient {
  /// Opens a page, as ``open(_:_:exts:style:from:deadline:key:onShown:onProgress:)`` with the same
  /// arguments, and reads its result.
  ///
  /// Throws as that does, -32602 for parameters that the URI cannot have, and -32603, of the kind
  /// `malformed`, with the place of what does not fit in a result.
  public func open<Result>(
    _ call: PageCall<Result>, exts: ValueObject = [:], style: Style? = nil, from: String? = nil,
    deadline: Duration? = nil, key: String? = nil,
    onShown: (@Sendable (_ page: String) -> Void)? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> PageOutcome<Result> {
    try call.check()
    return try call.outcome(
      try await open(
        call.uri, call.params, exts: exts, style: style, from: from, deadline: deadline, key: key,
        onShown: onShown, onProgress: onProgress))
  }

  /// Runs a task or a service, as ``invoke(_:_:exts:deadline:key:onProgress:)`` with the same
  /// arguments, and reads its value. Throws as that does, and as ``open(_:exts:style:from:deadline:key:onShown:onProgress:)``.
  public func invoke<Result>(
    _ call: ValueCall<Result>, exts: ValueObject = [:], deadline: Duration? = nil,
    key: String? = nil, onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Result {
    try call.check()
    return try call.result(
      try await invoke(
        call.uri, call.params, exts: exts, deadline: deadline, key: key, onProgress: onProgress))
  }

  /// Calls a method of a page, as ``call(page:method:params:deadline:key:onProgress:)`` with the
  /// same arguments, and reads what it answers. Throws as that does, and as
  /// ``open(_:exts:style:from:deadline:key:onShown:onProgress:)``.
  public func call<Result>(
    page: String, _ call: PageMethodCall<Result>, deadline: Duration? = nil, key: String? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Result {
    try call.check()
    return try call.result(
      try await self.call(
        page: page, method: call.method, params: call.params, deadline: deadline, key: key,
        onProgress: onProgress))
  }

  /// The events of a topic, read as its type.
  public typealias TopicEvents<Data: Codable & Sendable> =
    AsyncThrowingMapSequence<Events, TopicEvent<Data>>

  /// Subscribes to a topic of the app, as ``events(_:buffer:)``. The stream throws also where an
  /// event does not fit its type: -32603, of the kind `malformed`, with the place.
  public func events<Data>(
    of topic: EventTopic<Data>, buffer: Int = 1024
  ) async throws(CallError) -> TopicEvents<Data> {
    try await events([topic.name], buffer: buffer).map { event in
      try TopicEvent(topic, event.data, at: event.at)
    }
  }
}
