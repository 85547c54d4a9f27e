import WayNavigation
import WayValues

// Calls with typed results, as `waybridge routes generate` creates them from a route table.
extension Navigator {
  /// Opens a page, as ``open(_:params:exts:style:timeout:attachments:)`` with the same arguments,
  /// and decodes its result.
  ///
  /// Throws the errors of that method. Throws ``CallError`` -32602 for parameters that the URI
  /// cannot hold, and -32603, of the kind `malformed`, with the path of the fault in a result.
  public func open<Result>(
    _ call: PageCall<Result>, exts: ValueObject = [:], style: Style? = nil,
    timeout: Duration? = nil, attachments: [String: any Sendable] = [:]
  ) async throws -> PageOutcome<Result> {
    try call.check()
    return try call.decode(
      try await open(
        call.uri, params: call.params, exts: exts, style: style, timeout: timeout,
        attachments: attachments))
  }

  /// Runs a task or service, as ``invoke(_:params:exts:timeout:attachments:)`` with the same
  /// arguments, and decodes its value. Throws the errors of that method and of
  /// ``open(_:exts:style:timeout:attachments:)``.
  public func invoke<Result>(
    _ call: ValueCall<Result>, exts: ValueObject = [:], timeout: Duration? = nil,
    attachments: [String: any Sendable] = [:]
  ) async throws -> Result {
    try call.check()
    return try call.decode(
      try await invoke(
        call.uri, params: call.params, exts: exts, timeout: timeout, attachments: attachments))
  }

  /// Calls a method of an open page, as ``call(page:_:params:)``, and decodes its result. Throws
  /// the errors of that method and of ``open(_:exts:style:timeout:attachments:)``.
  public func call<Result>(page: String, _ call: PageMethodCall<Result>) async throws -> Result {
    try call.check()
    return try call.decode(try await self.call(page: page, call.method, params: call.params))
  }
}
