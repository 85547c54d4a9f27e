import WayRPC
import WayTransport
import WayValues

extension BridgeClient {
  /// Calls a method of the protocol, or one of the server's own methods, and waits for the
  /// response.
  ///
  /// Throws ``CallError``:
  /// - the error of the response
  /// - -32602 for params that nest too deep, with the path of the fault
  /// - 2413 for a message larger than the server accepts
  /// - 2429 if too many messages wait to be sent
  /// - 2599 if the response was lost
  ///
  /// - Parameters:
  ///   - method: the method's name.
  ///   - params: an object or an array; nil sends none.
  ///   - timeout: how long this side waits, 1 ms to 24 days; then the call is cancelled and throws
  ///     2408. nil waits as long as the connection lives.
  ///   - onProgress: receives the value of each `$/progress` of the call, in order, on the client's
  ///     thread.
  public func request(
    _ method: String, _ params: Value? = nil, timeout: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    _ = try timeout.map(Self.milliseconds)
    return try await perform(method, params, timeout: timeout, onProgress: onProgress)
  }

  /// Sends a notification; does nothing once the connection is closed for good. Throws
  /// ``CallError``: -32602 for params that nest too deep, 2413 for a message larger than the server
  /// accepts, 2429 if too many messages wait to be sent.
  public func notify(_ method: String, _ params: Value? = nil) throws(CallError) {
    try checkCapacity(for: method)
    try notify(method, params, .none)
  }

  /// Sends a notification. `tag` describes the message while it waits in the outbox.
  func notify(_ method: String, _ params: Value?, _ tag: Outbox.MessageTag) throws(CallError) {
    try checkDepth(of: params, method)
    try write(method) { (writer) throws(EncodingFailure) in
      try writer.writeNotification(method, params)
    }
    connection.send(writer.bytes, tag)
  }

  /// Sends a request and waits for its response, at most `timeout`. `onResponse` receives the
  /// result before any later message of the server is handled.
  func perform(
    _ method: String, _ params: Value?, timeout: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil,
    onResponse: ((Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    let call = BridgeClientCall(method, params, onProgress: onProgress)
    call.isCancelled = Task.isCancelled
    let id = try pendingCalls.add(call)
    let result: Result<Value, CallError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        call.completion = { result in
          if case .success(let value) = result { onResponse?(value) }
          continuation.resume(returning: result)
        }
        start(call, id, params, timeout)
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    return try result.get()
  }

  /// Sends the request, or settles it. Other code may have run since the call was added, so the
  /// call may be cancelled or the connection closed.
  private func start(
    _ call: BridgeClientCall, _ id: RequestID, _ params: Value?, _ timeout: Duration?
  ) {
    do throws(CallError) {
      guard connection.acceptsMessages else { throw ClientConnectionEnd(code: nil).notSentError }
      guard !call.isCancelled else {
        throw CallError(.cancelled, "\(call.method) was cancelled before it was sent")
      }
      try checkCapacity(for: call.method)
      if call.isUnnumbered {
        requestUnnumbered(call, id)
      } else {
        try submit(call, id, params)
      }
    } catch {
      _ = pendingCalls.remove(id)
      return call.settle(.failure(error))
    }
    if let timeout {
      call.timer = loop.schedule(after: timeout) { [weak self] in
        self?.assumeIsolated { $0.expire(id, timeout) }
      }
    }
  }

  /// Sends a request, or buffers it until it can be sent.
  func submit(_ call: BridgeClientCall, _ id: RequestID, _ params: Value?) throws(CallError) {
    try checkDepth(of: params, call.method)
    try write(call.method) { (writer) throws(EncodingFailure) in
      try writer.writeRequest(id, call.method, params)
    }
    if Self.isRepeatable(call.method, params) { call.repeatableMessage = writer.bytes }
    send(writer.bytes, of: call, id)
  }

  /// Sends the message of a request.
  func send(_ message: [UInt8], of call: BridgeClientCall, _ id: RequestID) {
    let seq = connection.send(message, .request(id))
    if seq != nil || !connection.isBuffering { call.markSent(seq) }
  }

  /// Sends an unnumbered request; without a connection it is sent over the next one.
  func requestUnnumbered(_ call: BridgeClientCall, _ id: RequestID) {
    if !connection.isBuffering { call.markSent(nil) }
    connection.requestUnnumbered(call.method) { [weak self] result in
      self?.assumeIsolated { $0.pendingCalls.remove(id)?.settle(result) }
    }
  }

  /// Whether a request may be repeated in another session although it may already have run in the
  /// lost one: calls with an idempotency key, and requests that describe the client.
  private static func isRepeatable(_ method: String, _ params: Value?) -> Bool {
    switch method {
    case "router.open", "router.invoke", "router.deliver", "page.call":
      params?["key"]?.string != nil
    case "host.register", "host.unregister", "events.subscribe": true
    default: false
    }
  }

  private func cancel(_ id: RequestID) {
    guard let call = pendingCalls[id] else { return }
    call.isCancelled = true
    if call.isSent, !call.isUnnumbered {
      withdraw(id, call)
      return scheduleCancellation(of: id, call)
    }
    // Any other unsent call is about to be sent, and `start` checks whether it was cancelled.
    guard connection.withdraw(id) || call.isUnnumbered else { return }
    let progress = call.isSent ? "while it waited for its response" : "before it was sent"
    pendingCalls.remove(id)?.settle(
      .failure(CallError(.cancelled, "\(call.method) was cancelled \(progress)")))
  }

  /// Settles cancelled calls after a while, because the connection is lost.
  func scheduleCancellations() {
    for (id, call) in pendingCalls.all(where: { $1.isCancelled && $1.isSent }) {
      scheduleCancellation(of: id, call)
    }
  }

  /// Settles a cancelled call after a while if the server cannot be reached. Otherwise the call
  /// waits for its response.
  private func scheduleCancellation(of id: RequestID, _ call: BridgeClientCall) {
    guard call.cancellationTimer == nil else { return }
    call.cancellationTimer = loop.schedule(after: Self.responseGrace / 2) { [weak self] in
      self?.assumeIsolated { $0.probeForCancellation(of: id) }
    }
  }

  /// Pings the server: the response to the call may have to wait for other operations on the stack.
  private func probeForCancellation(of id: RequestID) {
    guard let call = pendingCalls[id] else { return }
    let received = connection.receivedCount
    if !connection.isBuffering { connection.requestUnnumbered("$/ping") { _ in } }
    call.cancellationTimer = loop.schedule(after: Self.responseGrace / 2) { [weak self] in
      self?.assumeIsolated { $0.endCancellation(of: id, since: received) }
    }
  }

  /// Settles a cancelled call if there is no connection, or nothing has arrived since the ping.
  private func endCancellation(of id: RequestID, since received: UInt64) {
    guard let call = pendingCalls[id] else { return }
    call.cancellationTimer = nil
    guard connection.isBuffering || connection.receivedCount == received else { return }
    _ = pendingCalls.remove(id)
    call.settleCancelled()
  }

  private func expire(_ id: RequestID, _ timeout: Duration) {
    guard let call = pendingCalls.remove(id) else { return }
    withdraw(id, call)
    call.settle(
      .failure(CallError(.deadline, "The server did not answer \(call.method) within \(timeout)")))
  }

  private func withdraw(_ id: RequestID, _ call: BridgeClientCall) {
    if call.isUnnumbered || connection.withdraw(id) { return }
    try? notify("$/cancelRequest", ["id": id.value], .sessionBound)
  }

  /// Throws -32602 for params that nest deeper than the server reads; the message gets no number.
  private func checkDepth(of params: Value?, _ method: String) throws(CallError) {
    // The message itself is the first level.
    guard let path = params?.path(deeperThan: maxDepth - 1, in: "params") else { return }
    throw .invalidParams(
      "\(path) of \(method) nests too deep; a message may have \(maxDepth) levels")
  }

  /// Encodes a message.
  private func write(
    _ method: String, _ write: (inout MessageWriter) throws(EncodingFailure) -> Void
  ) throws(CallError) {
    do {
      try write(&writer)
    } catch {
      throw CallError(.invalidParams, "The params of \(method) cannot be sent: \(error)")
    }
    guard writer.count <= maxPayload else {
      throw CallError(
        .tooLarge,
        "\(method) has \(writer.count) bytes; the server's limit is \(maxMessage)")
    }
  }

  /// The size limit, in bytes, of a message before it is numbered.
  var maxPayload: Int { connection.isNumbered ? maxMessage - Outbox.maxNumberSize : maxMessage }

  /// Throws 2429 if too many messages wait for the server.
  private func checkCapacity(for method: String) throws(CallError) {
    guard connection.isFull else { return }
    throw CallError(
      .tooMany,
      "\(method) was not sent, because too much data already waits to be sent to the server")
  }
}

// Timeouts.
extension BridgeClient {
  /// Converts a duration to whole milliseconds, rounded up, as the protocol requires.
  static func milliseconds(_ duration: Duration) throws(CallError) -> Int64 {
    let longest = Int64(Int32.max)
    let (seconds, attoseconds) = duration.components
    let perMillisecond: Int64 = 1_000_000_000_000_000
    guard duration > .zero, seconds < longest / 1000 else {
      throw .invalidParams("The timeout must be from 1 ms to 24 days, or nil, not \(duration)")
    }
    return seconds * 1000 + (attoseconds + perMillisecond - 1) / perMillisecond
  }

  /// How long a call waits for the server's own response after its deadline or cancellation.
  private static let responseGrace: Duration = .seconds(1)

  /// How long to wait for a response: somewhat longer than the server's own deadline.
  static func responseTimeout(_ timeout: Duration?) -> Duration? {
    timeout.map { $0 + responseGrace }
  }
}
