import WayRPC
import WayValues

extension BridgeClient {
  /// Runs a method that the server calls by name, or a method of the page that this client runs in.
  /// What it throws reaches the caller as with ``Host/task(_:_:)``.
  public typealias Method = @Sendable (MethodCall) async throws -> Value

  /// One call of a hosted task or service.
  public struct TaskCall: Sendable {
    /// The URI as the caller wrote it.
    public let uri: String
    /// Path, query and the caller's parameters, merged.
    public let params: ValueObject
    /// What is no business data, as the caller gave it.
    public let exts: ValueObject
    /// Who calls; nil where the server does not tell.
    public let caller: Caller?
    /// Names the server's request: given as `onBehalfOf` with `router.invoke`, `router.open`,
    /// `router.canOpen` or `page.call` (``BridgeClient/request(_:_:timeout:onProgress:)``), it makes that call the
    /// caller's, as far as this client's own rights go, until the task has returned. Null in tests.
    public let request: Value
    private let report: @Sendable (Value) -> Void

    /// A call, for tests of a handler; `progress` gets what it tells.
    public init(
      uri: String, params: ValueObject = [:], exts: ValueObject = [:], caller: Caller? = nil,
      request: Value = .null, progress: @escaping @Sendable (Value) -> Void = { _ in }
    ) {
      self.uri = uri
      self.params = params
      self.exts = exts
      self.caller = caller
      self.request = request
      report = progress
    }

    /// Tells the caller how far the task is; after the task has returned, nothing. May be called
    /// from any thread. A value that nests too deep or is larger than the server takes is not sent.
    public func progress(_ value: Value) {
      report(value)
    }
  }

  /// One call of a method of a page or of this client.
  public struct MethodCall: Sendable {
    /// The method's name.
    public let method: String
    /// An object or a list, `null` where the caller gave none.
    public let params: Value
    /// Who calls a method of a page; nil for a method that the app's side calls, and where the
    /// server does not tell.
    public let caller: Caller?
    /// As ``TaskCall/request``.
    public let request: Value
    private let report: @Sendable (Value) -> Void

    /// A call, for tests of a handler; `progress` gets what it tells.
    public init(
      method: String, params: Value = .null, caller: Caller? = nil, request: Value = .null,
      progress: @escaping @Sendable (Value) -> Void = { _ in }
    ) {
      self.method = method
      self.params = params
      self.caller = caller
      self.request = request
      report = progress
    }

    /// Tells the caller how far the call is, as ``TaskCall/progress(_:)`` does.
    public func progress(_ value: Value) {
      report(value)
    }

    /// The error -32601, for a method that is not there.
    public var unknown: any Error { unknownMethod }

    var unknownMethod: CallError {
      CallError(.methodNotFound, "This client has no method \(method)")
    }
  }
}
