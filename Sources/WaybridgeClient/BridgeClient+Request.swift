import WayRPC
import WayTransport
import WayValues

extension BridgeClient {
  /// Calls a method of the protocol, or of the server's own, and waits for its answer.
  ///
  /// Throws ``CallError``: what the server answers, -32602 for params that nest too deep, 2413 for
  /// a message that is larger than the server takes.
  ///
  /// - Parameters:
  ///   - method: the method's name.
  ///   - params: an object or a list; nil sends none.
  ///   - timeout: how long this side waits, 1 ms to 24 days; then the call is cancelled and throws
  ///     2408. nil waits as long as the connection lives.
  ///   - onProgress: gets the value of each `$/progress` of the call, in order, on the client's
  ///     thread.
  public func request(
    _ method: String, _ params: Value? = nil, timeout: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    _ = try timeout.map(Self.milliseconds)
    return try await perform(method, params, patience: timeout, onProgress: onProgress)
  }

  /// Sends a message that is not answered; once the connection is closed, nothing. Throws
  /// ``CallError``: -32602 for params that nest too deep, 2413 for a message that is larger than
  /// the server takes.
  public func notify(_ method: String, _ params: Value? = nil) throws(CallError) {
    try send(method) { (writer) throws(EncodingFailure) in
      try writer.notification(method, params)
    }
  }

  /// Sends a request and waits for its answer, `patience` at the longest.
  func perform(
    _ method: String, _ params: Value?, patience: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    let call = PendingCall(method, onProgress: onProgress)
    call.isCancelled = Task.isCancelled
    let id = try pending.add(call)
    let result: Result<Value, CallError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        call.answer = continuation
        start(call, id, params, patience)
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    return try result.get()
  }

  /// Sends the request, or settles it. Others may have had their turn since it was added, so that
  /// it is cancelled or the connection gone.
  private func start(
    _ call: PendingCall, _ id: RequestID, _ params: Value?, _ patience: Duration?
  ) {
    do throws(CallError) {
      guard channel != nil else {
        throw CallError(.unavailable, "The connection is closed; the call was not sent")
      }
      guard !call.isCancelled else {
        throw CallError(.cancelled, "\(call.method) was cancelled before it was sent")
      }
      try send(call.method) { (writer) throws(EncodingFailure) in
        try writer.request(id, call.method, params)
      }
      call.isSent = true
    } catch {
      _ = pending.take(id)
      return call.settle(.failure(error))
    }
    if let patience {
      call.guardian = loop.schedule(after: patience) { [weak self] in
        self?.assumeIsolated { $0.expire(id, patience) }
      }
    }
  }

  private func cancel(_ id: RequestID) {
    guard let call = pending[id] else { return }
    call.isCancelled = true
    if call.isSent { withdraw(id) }
  }

  private func expire(_ id: RequestID, _ patience: Duration) {
    guard let call = pending.take(id) else { return }
    withdraw(id)
    call.settle(
      .failure(CallError(.deadline, "The server has not answered \(call.method) in \(patience)")))
  }

  private func withdraw(_ id: RequestID) {
    try? notify("$/cancelRequest", ["id": id.value])
  }

  /// Writes a message and sends it.
  func send(
    _ method: String, _ write: (inout MessageWriter) throws(EncodingFailure) -> Void
  ) throws(CallError) {
    do {
      try write(&writer)
    } catch {
      throw CallError(.invalidParams, "The params of \(method) cannot be sent: \(error)")
    }
    guard writer.bytes.count <= maxMessage else {
      throw CallError(
        .tooLarge,
        "\(method) takes \(writer.bytes.count) bytes; the server's limit is \(maxMessage)")
    }
    channel?.send(writer.bytes.span.bytes, as: .text)
  }
}

// Deadlines.
extension BridgeClient {
  /// Whole milliseconds, rounded up, as the wire has them.
  static func milliseconds(_ duration: Duration) throws(CallError) -> Int64 {
    let longest = Int64(Int32.max)
    let (seconds, attoseconds) = duration.components
    let perMillisecond: Int64 = 1_000_000_000_000_000
    guard duration > .zero, seconds < longest / 1000 else {
      throw .invalidParams("The time is \(duration); give 1 ms to 24 days, or none")
    }
    return seconds * 1000 + (attoseconds + perMillisecond - 1) / perMillisecond
  }

  /// How long to wait for a server that ought to have answered when the deadline passed.
  static func patience(_ deadline: Duration?) -> Duration? {
    deadline.map { $0 + .seconds(1) }
  }
}
