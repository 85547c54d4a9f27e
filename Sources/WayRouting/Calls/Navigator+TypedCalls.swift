import WayNavigation
import WayValues

// Calls that say what they give back, as `waybridge routes generate` makes them of a route table.
extension Navigator {
  /// Opens a page, as ``open(_:params:exts:style:deadline:carrying:)`` with the same arguments, and
  /// reads its result.
  ///
  /// Throws as that does, ``CallError`` -32602 for parameters that the URI cannot have, and -32603,
  /// of the kind `malformed`, with the place of what does not fit in a result.
  public func open<Result>(
    _ call: PageCall<Result>, exts: ValueObject = [:], style: Style? = nil,
    deadline: Duration? = nil, carrying: [String: any Sendable] = [:]
  ) async throws -> PageOutcome<Result> {
    try call.check()
    return try call.outcome(
      try await open(
        call.uri, params: call.params, exts: exts, style: style, deadline: deadline,
        carrying: carrying))
  }

  /// Runs a task or service, as ``invoke(_:params:exts:deadline:carrying:)`` with the same
  /// arguments, and reads its value. Throws as that does, and as
  /// ``open(_:exts:style:deadline:carrying:)``.
  public func invoke<Result>(
    _ call: ValueCall<Result>, exts: ValueObject = [:], deadline: Duration? = nil,
    carrying: [String: any Sendable] = [:]
  ) async throws -> Result {
    try call.check()
    return try call.result(
      try await invoke(
        call.uri, params: call.params, exts: exts, deadline: deadline, carrying: carrying))
  }

  /// Calls a method of an open page, as ``call(page:_:params:)``, and reads what it answers. Throws
  /// as that does, and as ``open(_:exts:style:deadline:carrying:)``.
  public func call<Result>(page: String, _ call: PageMethodCall<Result>) async throws -> Result {
    try call.check()
    return try call.result(try await self.call(page: page, call.method, params: call.params))
  }
}
