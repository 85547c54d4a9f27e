import WayRPC
import WayRouting

// What the server asks of this client: each request runs in a task of its own and is answered exactly once.
//
// Every task inherits the client's executor and prefers the loop, and the first that it awaits is the host: so what was
// asked first reaches its host first, also one that does not say where it runs.
extension BridgeClient {
  func serve(_ request: Request) {
    if request.method == "$/ping" { return answer(request.id, .success(.null)) }
    do throws(RPCError) {
      try serving.check(request.id)
      let task = try carryOut(request)
      try serving.begin(request.id, ServedCall(method: request.method, task: task))
    } catch {
      answer(request.id, .failure(error))
    }
  }

  private func carryOut(_ request: Request) throws(RPCError) -> Task<Void, Never> {
    let params = request.params ?? .null
    switch request.method {
    case "page.open": return try openPage(params, request.id)
    case "page.close": return try closePage(params, request.id)
    case "page.call": return try callPage(params, request.id)
    case "task.run": return try runTask(params, request.id)
    default:
      return try run(
        MethodCall(method: request.method, params: params, progress: progress(of: request.id)),
        request.id)
    }
  }

  /// Runs a method of this client.
  func run(_ call: MethodCall, _ request: RequestID) throws(RPCError) -> Task<Void, Never> {
    guard let method = methods[call.method] else { throw call.unknownMethod }
    return Task {
      do {
        finish(
          request, .success(try await withTaskExecutorPreference(loop) { try await method(call) }))
      } catch {
        finish(request, .failure(Self.failure(error)))
      }
    }
  }

  func finish(_ request: RequestID, _ result: Result<Value, RPCError>) {
    // Nobody can be answered once the connection has ended.
    guard serving.end(request) != nil else { return }
    answer(request, result)
  }

  /// What the caller is told of an error that a host threw in the current task: the application's own codes pass through.
  static func failure(_ error: any Error) -> RPCError {
    switch error {
    case let error as RPCError: error
    case _ where Task.isCancelled: RPCError(.cancelled)
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
    channel?.send(writer.bytes.span.bytes, as: .text)
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
    guard serving[id] != nil else { return }
    try? notify("$/progress", ["id": id.value, "value": value])
  }
}
