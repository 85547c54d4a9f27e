import WayRPC
import WayValues

extension BridgeClient {
  /// Runs a method that the server calls by name, or a method of the page that this client runs in.
  /// Errors reach the caller as with ``Host/task(_:_:)``.
  public typealias ClientMethod = @Sendable (MethodCall) async throws -> Value

  /// One call of a hosted task or service.
  public struct TaskCall: Sendable {
    /// The URI as the caller wrote it.
    public let uri: String
    /// Path, query and the caller's parameters, merged.
    public let params: ValueObject
    /// Extensions that are not business data, as the caller passed them.
    public let exts: ValueObject
    /// The caller; nil if the server does not send it.
    public let caller: CallerDescription?
    /// The id of the server's request; null in tests. It is passed as `onBehalfOf` with
    /// `router.invoke`, `router.open`, `router.canOpen` or `page.call`
    /// (``BridgeClient/request(_:_:timeout:onProgress:)``). It makes that call the caller's, within
    /// this client's own rights, until the task has returned.
    public let requestID: Value
    private let keyedWork: KeyedWork?
    private let progressHandler: @Sendable (Value) -> Void

    /// Creates a call, for tests of a handler; `progress` receives the values that it reports.
    public init(
      uri: String, params: ValueObject = [:], exts: ValueObject = [:],
      caller: CallerDescription? = nil, requestID: Value = .null, key: String? = nil,
      progress: @escaping @Sendable (Value) -> Void = { _ in }
    ) {
      self.init(
        uri: uri, params: params, exts: exts, caller: caller, requestID: requestID,
        keyedWork: key.map { KeyedWork($0) }, progress: progress)
    }

    init(
      uri: String, params: ValueObject, exts: ValueObject, caller: CallerDescription?,
      requestID: Value, keyedWork: KeyedWork?, progress: @escaping @Sendable (Value) -> Void
    ) {
      self.uri = uri
      self.params = params
      self.exts = exts
      self.caller = caller
      self.requestID = requestID
      self.keyedWork = keyedWork
      progressHandler = progress
    }

    /// The idempotency key of the caller's call; nil if it has none.
    public var key: String? { keyedWork?.text }

    /// Runs `work` at most once for the call's idempotency key, and returns its value.
    ///
    /// If the call arrives again, for example because its caller repeats it after the session was
    /// lost, it waits for the same value, or the same error, or gets it at once. This client stores
    /// values and errors for 10 minutes, at most 256 of them and about 1 MiB. It does not store
    /// ``Declined``.
    ///
    /// `work` is cancelled when no request waits for it any more. It continues if the session is
    /// lost, since the caller may repeat the call in the next session. Without a key, `work` runs
    /// each time.
    ///
    /// ```swift
    /// let pay = BridgeClient.Host.task("action://pay") { call in
    ///   try await call.once {
    ///     print("charging order", call.params["order"]?.json ?? "")
    ///     return ["charged": true]
    ///   }
    /// }
    /// ```
    ///
    /// Throws the errors of `work`.
    public func once(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
      guard let keyedWork else { return try await work() }
      return try await keyedWork.run(work)
    }

    /// Reports progress to the caller; does nothing after the task has returned. May be called from
    /// any thread. A value that nests too deep or is larger than the server accepts is not sent.
    public func reportProgress(_ value: Value) {
      progressHandler(value)
    }
  }

  /// One call of a method of a page or of this client.
  public struct MethodCall: Sendable {
    /// The method's name.
    public let method: String
    /// An object or an array; `null` if the caller sent none.
    public let params: Value
    /// The caller of a method of a page; nil for a method that the app's server calls, and if the
    /// server does not send it.
    public let caller: CallerDescription?
    /// The id of the server's request, as ``TaskCall/requestID``.
    public let requestID: Value
    private let keyedWork: KeyedWork?
    private let progressHandler: @Sendable (Value) -> Void

    /// Creates a call, for tests of a handler; `progress` receives the values that it reports.
    public init(
      method: String, params: Value = .null, caller: CallerDescription? = nil,
      requestID: Value = .null, key: String? = nil,
      progress: @escaping @Sendable (Value) -> Void = { _ in }
    ) {
      self.init(
        method: method, params: params, caller: caller, requestID: requestID,
        keyedWork: key.map { KeyedWork($0) }, progress: progress)
    }

    init(
      method: String, params: Value, caller: CallerDescription?, requestID: Value,
      keyedWork: KeyedWork?, progress: @escaping @Sendable (Value) -> Void
    ) {
      self.method = method
      self.params = params
      self.caller = caller
      self.requestID = requestID
      self.keyedWork = keyedWork
      progressHandler = progress
    }

    /// The idempotency key of the caller's `page.call`; nil if it has none, and for a method that
    /// the app's server calls.
    public var key: String? { keyedWork?.text }

    /// Runs `work` at most once for the call's idempotency key, as ``TaskCall/once(_:)`` does. Throws
    /// the errors of `work`.
    public func once(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
      guard let keyedWork else { return try await work() }
      return try await keyedWork.run(work)
    }

    /// Reports progress to the caller, as ``TaskCall/reportProgress(_:)`` does.
    public func reportProgress(_ value: Value) {
      progressHandler(value)
    }

    /// The error -32601 for an unknown method.
    public var methodNotFoundError: any Error { methodNotFound }

    var methodNotFound: CallError {
      CallError(.methodNotFound, "This client has no method \(method)")
    }
  }
}
