import WayRPC
import WayTransport

extension BridgeClient {
  /// Calls a method of the protocol, or of the server's own, and waits for its answer.
  ///
  /// - Parameters:
  ///   - params: an object or a list; nil sends none.
  ///   - timeout: how long this side waits, 1 ms to 24 days; then the call is cancelled and throws 2408. nil waits as long as
  ///     the connection lives.
  ///   - onProgress: gets the value of each `$/progress` of the call, in order, on the client's thread.
  public func request(
    _ method: String, _ params: Value? = nil, timeout: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    _ = try timeout.map(Self.milliseconds)
    return try await perform(method, params, patience: timeout, onProgress: onProgress)
  }

  /// Sends a message that is not answered. It is dropped when the connection is closed.
  public func notify(_ method: String, _ params: Value? = nil) throws(CallError) {
    do {
      try writer.notification(method, params)
    } catch {
      throw .invalidParams("The params of \(method) cannot be sent: \(error)")
    }
    try checkSize(of: method)
    sendWritten()
  }

  /// Sends a request and waits for its answer, `patience` at the longest.
  func perform(
    _ method: String, _ params: Value?, patience: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    guard channel != nil else { throw Self.notSent }
    guard !Task.isCancelled else {
      throw CallError(RPCError(.cancelled, "\(method) was cancelled before it was sent"))
    }
    let call = PendingCall(method, onProgress: onProgress)
    let id = try add(call, params)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        call.answer = continuation
        sendWritten()
        if let patience {
          call.guardian = loop.schedule(after: patience) { [weak self] in
            self?.assumeIsolated { $0.expire(id, patience) }
          }
        }
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    do throws(RPCError) {
      return try result.get()
    } catch {
      throw CallError(error)
    }
  }

  /// Writes the request; where that fails there is no call.
  private func add(_ call: PendingCall, _ params: Value?) throws(CallError) -> RequestID {
    let id: RequestID
    do {
      id = try pending.add(call)
    } catch {
      throw CallError(error)
    }
    do {
      try writer.request(id, call.method, params)
    } catch {
      _ = pending.take(id)
      throw .invalidParams("The params of \(call.method) cannot be sent: \(error)")
    }
    do {
      try checkSize(of: call.method)
    } catch {
      _ = pending.take(id)
      throw error
    }
    return id
  }

  private func checkSize(of method: String) throws(CallError) {
    guard writer.bytes.count > maxMessage else { return }
    throw CallError(
      RPCError(
        .tooLarge,
        "\(method) takes \(writer.bytes.count) bytes; the server's limit is \(maxMessage)"))
  }

  private func cancel(_ id: RequestID) {
    guard pending[id] != nil, (try? writer.notification("$/cancelRequest", ["id": id.value])) != nil
    else { return }
    sendWritten()
  }

  private func expire(_ id: RequestID, _ patience: Duration) {
    cancel(id)
    guard let call = pending.take(id) else { return }
    call.settle(
      .failure(RPCError(.deadline, "The server has not answered \(call.method) in \(patience)")))
  }

  /// Sends what the writer holds.
  func sendWritten() {
    channel?.send(writer.bytes.span.bytes, as: .text)
  }

  private static var notSent: CallError {
    CallError(RPCError(.unavailable, "The connection is closed; the call was not sent"))
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
