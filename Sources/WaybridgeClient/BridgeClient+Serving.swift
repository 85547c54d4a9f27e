import WayRPC
import WayRouting

// What the server asks of this client: each request runs in a task of its own and is answered exactly once.
extension BridgeClient {
  /// The tasks inherit the client's executor, so that what is asked first reaches its host first.
  func serve(_ request: Request) {
    if request.method == "$/ping" { return answer(request.id, .success(.null)) }
    do {
      try serving.check(request.id)
      let task = Task {
        let result = await self.result(of: request)
        self.finish(request, result)
      }
      try serving.begin(request.id, task)
    } catch {
      answer(request.id, .failure(error))
    }
  }

  private func finish(_ request: Request, _ result: Result<Value, RPCError>) {
    // Nobody can be answered once the connection has ended.
    guard serving.end(request.id) != nil else { return }
    answer(request.id, result)
  }

  private func result(of request: Request) async -> Result<Value, RPCError> {
    do {
      return .success(try await carryOut(request))
    } catch {
      return .failure(Self.failure(error, isCancelled: Task.isCancelled))
    }
  }

  private func carryOut(_ request: Request) async throws -> Value {
    let params = request.params ?? .null
    switch request.method {
    case "page.open": return try await openPage(params, request.id)
    case "page.close": return try await closePage(params)
    case "page.call": return try await callPage(params, request.id)
    case "task.run": return try await runTask(params, request.id)
    default:
      guard let method = methods[request.method] else {
        throw RPCError(.methodNotFound, "This client has no method \(request.method)")
      }
      return try await method(
        MethodCall(method: request.method, params: params, progress: progress(of: request.id)))
    }
  }

  /// What the caller is told of an error that a host threw: the application's own codes pass through.
  private static func failure(_ error: any Error, isCancelled: Bool) -> RPCError {
    switch error {
    case let error as RPCError: error
    case _ where isCancelled: RPCError(.cancelled)
    case let error as TaskError where error.isApplicationCode:
      RPCError(code: error.code, message: error.message, data: error.data)
    case let error as CallError where ErrorCode.isApplication(error.code):
      RPCError(code: error.code, message: error.message, data: error.data)
    default: RPCError(.hostFailed, "\(error)")
    }
  }

  func answer(_ id: RequestID, _ result: Result<Value, RPCError>) {
    writer.answer(id, result)
    if writer.bytes.count > maxMessage {
      writer.error(
        id,
        RPCError(
          .tooLarge,
          "The answer takes \(writer.bytes.count) bytes; the server's limit is \(maxMessage)"))
    }
    sendWritten()
  }

  /// Tells the server how far a request is; after its answer, or where the value cannot be sent, it does nothing.
  func progress(of id: RequestID) -> @Sendable (Value) -> Void {
    { [weak self] value in
      guard let self else { return }
      // Jobs of the loop run in their order, so that progress keeps its own and comes before the answer.
      self.loop.execute { self.assumeIsolated { $0.sendProgress(id, value) } }
    }
  }

  private func sendProgress(_ id: RequestID, _ value: Value) {
    guard serving[id] != nil,
      (try? writer.notification("$/progress", ["id": id.value, "value": value])) != nil,
      writer.bytes.count <= maxMessage
    else { return }
    sendWritten()
  }
}
