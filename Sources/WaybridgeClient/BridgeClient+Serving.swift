import WayRPC
import WayValues

// What the server asks of this client: each request is answered exactly once. Tasks and methods are
// begun in the order of the requests, also those that do not say where they run: for that they
// prefer the loop.
extension BridgeClient {
  func serve(_ request: Request) {
    if request.method == "$/ping" { return answer(request.id, .success(.null)) }
    let call = ServedCall()
    do throws(CallError) {
      try serving.begin(request.id, call)
    } catch {
      return answer(request.id, .failure(error))
    }
    do throws(CallError) {
      try carryOut(request, call)
    } catch {
      finish(request.id, .failure(error))
    }
  }

  private func carryOut(_ request: Request, _ call: ServedCall) throws(CallError) {
    let params = request.params ?? .null
    switch request.method {
    case "page.open": try openPage(params, request.id, call)
    case "page.close": try closePage(params, request.id)
    case "page.call": try callPage(params, request.id, call)
    case "task.run": try runTask(params, request.id, call)
    default:
      try run(
        MethodCall(
          method: request.method, params: params, request: request.id.value,
          progress: progress(of: request.id)),
        request.id, call)
    }
  }

  private func callPage(
    _ params: Value, _ request: RequestID, _ call: ServedCall
  ) throws(CallError) {
    guard let id = params["page"]?.string, let name = params["method"]?.string else {
      throw CallError(.invalidParams, "page.call needs the strings page and method")
    }
    let method = MethodCall(
      method: name, params: params["params"] ?? .null, caller: Caller(params["caller"]),
      request: request.value, progress: progress(of: request))
    if id == ownPage { return try run(method, request, call) }
    guard let (page, host) = pages.shown(id) else {
      throw CallError(.noRoute, "This client does not show the page \(id)", kind: "notOnStack")
    }
    begin(request, call) { try await host.call(method, of: page) }
  }

  private func runTask(
    _ params: Value, _ request: RequestID, _ call: ServedCall
  ) throws(CallError) {
    guard let uri = params["uri"]?.string else {
      throw CallError(.invalidParams, "params.uri must be a string")
    }
    guard case .run(let run) = hosts.find(try ChosenHost(params["host"]))?.handler else {
      throw CallError(.hostAbsent, "This client does not run \(uri)")
    }
    let task = TaskCall(
      uri: uri, params: params["params"]?.object ?? [:], exts: params["exts"]?.object ?? [:],
      caller: Caller(params["caller"]), request: request.value, progress: progress(of: request))
    begin(request, call) { try await run(task) }
  }

  /// Runs a method of this client.
  private func run(
    _ method: MethodCall, _ request: RequestID, _ call: ServedCall
  ) throws(CallError) {
    guard let run = methods[method.method] else { throw method.unknownMethod }
    begin(request, call) { try await run(method) }
  }

  private func begin(
    _ request: RequestID, _ call: ServedCall,
    _ work: @escaping @Sendable () async throws -> Value
  ) {
    call.task = Task {
      do {
        let value = try await withTaskExecutorPreference(loop) { try await work() }
        finish(request, .success(value))
      } catch {
        finish(request, .failure(Self.failure(error)))
      }
    }
  }

  /// Answers once what was told of progress before is on its way.
  func finish(_ request: RequestID, _ result: Result<Value, CallError>) {
    loop.execute {
      self.assumeIsolated { client in
        // Nobody can be answered once the connection has ended.
        guard client.serving.end(request) != nil else { return }
        client.answer(request, result)
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
    if writer.bytes.count > maxMessage {
      writer.error(
        id,
        CallError(
          .tooLarge,
          "The answer takes \(writer.bytes.count) bytes; the server's limit is \(maxMessage)"))
    }
    channel?.send(writer.bytes.span.bytes, as: .text)
  }

  /// Tells the server how far a request is; after its answer, or where the value cannot be sent, it
  /// does nothing.
  func progress(of id: RequestID) -> @Sendable (Value) -> Void {
    { [weak self] value in
      guard let self else { return }
      // Jobs of the loop run in their order, so that progress keeps its own and comes before the
      // answer.
      self.loop.execute { self.assumeIsolated { $0.sendProgress(id, value) } }
    }
  }

  private func sendProgress(_ id: RequestID, _ value: Value) {
    guard serving[id] != nil else { return }
    try? notify("$/progress", ["id": id.value, "value": value])
  }
}
