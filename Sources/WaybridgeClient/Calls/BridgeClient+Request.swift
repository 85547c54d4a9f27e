import WayRPC
import WayTransport
import WayValues

extension BridgeClient {
  /// Calls a method of the protocol, or of the server's own, and waits for its answer.
  ///
  /// Throws ``CallError``: what the server answers, -32602 for params that nest too deep, 2413 for
  /// a message that is larger than the server takes, 2429 where too much waits to be sent, 2599 where
  /// the answer got lost.
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

  /// Sends a message that is not answered; once the connection is closed for good, nothing. Throws
  /// ``CallError``: -32602 for params that nest too deep, 2413 for a message that is larger than
  /// the server takes, 2429 where too much waits to be sent.
  public func notify(_ method: String, _ params: Value? = nil) throws(CallError) {
    try checkRoom(for: method)
    try notify(method, params, .none)
  }

  /// `tag` says what is to be known of it while it waits.
  func notify(_ method: String, _ params: Value?, _ tag: Outbox.Tag) throws(CallError) {
    try write(method) { (writer) throws(EncodingFailure) in
      try writer.notification(method, params)
    }
    line.send(writer.bytes, tag)
  }

  /// Sends a request and waits for its answer, `patience` at the longest. `onAnswer` gets that before
  /// anything else that the server says.
  func perform(
    _ method: String, _ params: Value?, patience: Duration? = nil,
    onProgress: (@Sendable (Value) -> Void)? = nil,
    onAnswer: ((Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    let call = PendingCall(method, params, onProgress: onProgress)
    call.isCancelled = Task.isCancelled
    let id = try pending.add(call)
    let result: Result<Value, CallError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        call.answer = { result in
          if case .success(let value) = result { onAnswer?(value) }
          continuation.resume(returning: result)
        }
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
      guard line.takesMessages else { throw ClientConnectionEnd(code: nil).notSent }
      guard !call.isCancelled else {
        throw CallError(.cancelled, "\(call.method) was cancelled before it was sent")
      }
      try checkRoom(for: call.method)
      if call.isApart {
        ask(call, id)
      } else {
        try submit(call, id, params)
      }
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

  /// Sends a request, or has it wait until that can be done.
  func submit(_ call: PendingCall, _ id: RequestID, _ params: Value?) throws(CallError) {
    try write(call.method) { (writer) throws(EncodingFailure) in
      try writer.request(id, call.method, params)
    }
    if Self.isRepeatable(call.method, params) { call.again = writer.bytes }
    send(writer.bytes, of: call, id)
  }

  /// Sends the message of a request.
  func send(_ message: [UInt8], of call: PendingCall, _ id: RequestID) {
    let seq = line.send(message, .request(id))
    if seq != nil || !line.isHolding { call.wasSent(seq) }
  }

  /// Asks what has no number; where there is no connection now, over the next.
  func ask(_ call: PendingCall, _ id: RequestID) {
    if !line.isHolding { call.wasSent(nil) }
    line.ask(call.method) { [weak self] result in
      self?.assumeIsolated { $0.pending.take(id)?.settle(result) }
    }
  }

  /// Whether a request may be made of another session, when it is not known whether the one before
  /// has carried it out: calls under a key, and what a client says of itself.
  private static func isRepeatable(_ method: String, _ params: Value?) -> Bool {
    switch method {
    case "router.open", "router.invoke", "page.call": params?["key"]?.string != nil
    case "host.register", "host.unregister", "events.subscribe": true
    default: false
    }
  }

  private func cancel(_ id: RequestID) {
    guard let call = pending[id] else { return }
    call.isCancelled = true
    if call.isSent { return withdraw(id, call) }
    // Another that is not sent yet is about to be, and looks whether it was cancelled.
    guard line.takeBack(id) || call.isApart else { return }
    pending.take(id)?.settle(
      .failure(CallError(.cancelled, "\(call.method) was cancelled before it was sent")))
  }

  private func expire(_ id: RequestID, _ patience: Duration) {
    guard let call = pending.take(id) else { return }
    withdraw(id, call)
    call.settle(
      .failure(CallError(.deadline, "The server has not answered \(call.method) in \(patience)")))
  }

  private func withdraw(_ id: RequestID, _ call: PendingCall) {
    if call.isApart || line.takeBack(id) { return }
    try? notify("$/cancelRequest", ["id": id.value], .bound)
  }

  /// Writes a message.
  private func write(
    _ method: String, _ write: (inout MessageWriter) throws(EncodingFailure) -> Void
  ) throws(CallError) {
    do {
      try write(&writer)
    } catch {
      throw CallError(.invalidParams, "The params of \(method) cannot be sent: \(error)")
    }
    guard writer.count <= room else {
      throw CallError(
        .tooLarge,
        "\(method) takes \(writer.count) bytes; the server's limit is \(maxMessage)")
    }
  }

  /// Bytes that a message may have before it is numbered.
  var room: Int { line.isNumbered ? maxMessage - Outbox.numberSize : maxMessage }

  /// Fails with 2429 where too much waits for the server.
  private func checkRoom(for method: String) throws(CallError) {
    guard line.isFull else { return }
    throw CallError(
      .tooMany, "\(method) was not sent: too much waits to be taken by the server")
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
