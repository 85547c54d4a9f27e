import WayRPC
import WayValues

// What the server asks of this client: each request is answered exactly once. Tasks and methods are
// begun in the order of the requests, also those that do not say where they run: for that they
// prefer the loop.
extension BridgeClient {
  func serve(_ request: Request) {
    if request.method == "$/ping" { return answerPing(request.id) }
    let call = ServerRequest(request.id)
    do throws(CallError) {
      try serving.begin(call)
    } catch {
      return answer(request.id, .failure(error))
    }
    do throws(CallError) {
      try carryOut(request, call)
    } catch {
      finish(call, .failure(error))
    }
  }

  private func answerPing(_ id: RequestID) {
    writer.answer(id, .success(.null))
    line.sendApart(writer.bytes)
  }

  private func carryOut(_ request: Request, _ call: ServerRequest) throws(CallError) {
    let params = request.params ?? .null
    switch request.method {
    case "page.open": try openPage(params, call)
    case "page.close": try closePage(params, call)
    case "page.call": try callPage(params, call)
    case "task.run": try runTask(params, call)
    default:
      try run(
        MethodCall(
          method: request.method, params: params, request: request.id.value,
          progress: progress(of: call)),
        call)
    }
  }

  private func callPage(_ params: Value, _ call: ServerRequest) throws(CallError) {
    guard let id = params["page"]?.string, let name = params["method"]?.string else {
      throw CallError(.invalidParams, "page.call needs the strings page and method")
    }
    let method = MethodCall(
      method: name, params: params["params"] ?? .null, caller: Caller(params["caller"]),
      request: call.id.value, progress: progress(of: call))
    if id == ownPage { return try run(method, call) }
    guard let (page, host) = pages.shown(id) else {
      throw CallError(.noRoute, "This client does not show the page \(id)", kind: "notOnStack")
    }
    begin(call) { try await host.call(method, of: page) }
  }

  private func runTask(_ params: Value, _ call: ServerRequest) throws(CallError) {
    guard let uri = params["uri"]?.string else {
      throw CallError(.invalidParams, "params.uri must be a string")
    }
    guard case .run(let run) = hosts.find(try ChosenHost(params["host"]))?.handler else {
      throw CallError(.hostAbsent, "This client does not run \(uri)")
    }
    let task = TaskCall(
      uri: uri, params: params["params"]?.object ?? [:], exts: params["exts"]?.object ?? [:],
      caller: Caller(params["caller"]), request: call.id.value, progress: progress(of: call))
    begin(call) { try await run(task) }
  }

  /// Runs a method of this client.
  private func run(_ method: MethodCall, _ call: ServerRequest) throws(CallError) {
    guard let run = methods[method.method] else { throw method.unknownMethod }
    begin(call) { try await run(method) }
  }

  private func begin(
    _ call: ServerRequest, _ work: @escaping @Sendable () async throws -> Value
  ) {
    call.task = Task {
      do {
        let value = try await withTaskExecutorPreference(loop) { try await work() }
        finish(call, .success(value))
      } catch {
        finish(call, .failure(Self.failure(error)))
      }
    }
  }

  /// Answers once what was told of progress before is on its way.
  func finish(_ call: ServerRequest, _ result: Result<Value, CallError>) {
    loop.execute {
      self.assumeIsolated { client in
        // Of a session that is gone nobody can be answered; its ids may be those of another by now.
        guard client.serving[call.id] === call else { return }
        _ = client.serving.end(call.id)
        client.answer(call.id, result)
      }
    }
  }

  /// What the server is told of an error that a host threw in the current task: the application's
  /// own codes pass through to the caller.
  static func failure(_ error: any Error) -> CallError {
    switch error {
    case _ where Task.isCancelled: CallError(.cancelled)
    case is Declined: CallError(.noRoute, "The host declined", kind: "declined")
    case let error as CallError
    where ErrorCode.isApplication(error.code) || error.protocolCode == .methodNotFound:
      error
    case let error as CallError:
      CallError(.hostFailed, "\(error.message) (code \(error.code))")
    default: CallError(.hostFailed, "\(error)")
    }
  }

  func answer(_ id: RequestID, _ result: Result<Value, CallError>) {
    writer.answer(id, result)
    if writer.count > room {
      writer.error(
        id,
        CallError(
          .tooLarge,
          "The answer takes \(writer.count) bytes; the server's limit is \(maxMessage)"))
    }
    line.send(writer.bytes, .bound)
  }

  /// Tells the server how far a request is; after its answer, or where the value cannot be sent, it
  /// does nothing.
  func progress(of call: ServerRequest) -> @Sendable (Value) -> Void {
    { [weak self] value in
      guard let self else { return }
      // Jobs of the loop run in their order, so that progress keeps its own and comes before the
      // answer.
      self.loop.execute { self.assumeIsolated { $0.sendProgress(call, value) } }
    }
  }

  private func sendProgress(_ call: ServerRequest, _ value: Value) {
    guard serving[call.id] === call else { return }
    try? notify(
      "$/progress", ["id": call.id.value, "value": value], .progress(call.id))
  }
}
