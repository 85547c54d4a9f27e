import WayValues

/// What a handler may do in the session of its call.
public protocol Navigator: Sendable {
  /// The id of the session.
  var session: String { get }
  /// Opens a page, whoever shows it, and returns when it is gone; of a task, when it has run.
  ///
  /// Throws ``TaskError`` with the protocol's code when the page is not shown or the task fails. Cancelling the Swift task
  /// closes a page that is shown.
  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style
  ) async throws -> Outcome
  /// Runs a task or service and returns its value. Throws ``TaskError`` with its own code or the protocol's.
  func invoke(_ uri: String, params: ValueObject, exts: ValueObject) async throws -> Value
  /// Whether ``open(_:params:exts:style:)`` would find a route and somebody to serve it. Runs no handler.
  func canOpen(_ uri: String) async -> Bool
  /// Calls a method of an open page of the session: of the client that runs in it, else of its host.
  /// Throws ``TaskError`` with the code that it answers or the protocol's.
  func call(page: String, _ method: String, params: ValueObject) async throws -> Value
}

extension Navigator {
  /// As the full call, with what is left out being empty or `push`; throws as it does.
  public func open(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style = .push
  ) async throws -> Outcome {
    try await open(uri, params: params, exts: exts, style: style)
  }

  /// As the full call, with what is left out being empty; throws as it does.
  public func invoke(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:]
  ) async throws -> Value {
    try await invoke(uri, params: params, exts: exts)
  }
}
