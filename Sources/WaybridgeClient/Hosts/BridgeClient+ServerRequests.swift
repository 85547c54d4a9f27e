import WayRPC
import WayValues

// Requests of the server; this client responds to each exactly once. Tasks and methods start in the
// order of the requests, also those without an executor of their own: these prefer the loop.
extension BridgeClient {
  func handleRequest(_ request: Request) {
    if request.method == "$/ping" { return respondToPing(request.id) }
    let call = ServerRequest(request.id)
    do throws(CallError) {
      try serverRequests.begin(call)
    } catch {
      return sendResponse(request.id, .failure(error))
    }
    do throws(CallError) {
      try dispatch(request, call)
    } catch {
      complete(call, .failure(error))
    }
  }

  private func respondToPing(_ id: RequestID) {
    writer.writeResult(id, .success(.null))
    connection.sendUnnumbered(writer.bytes)
  }

  private func dispatch(_ request: Request, _ call: ServerRequest) throws(CallError) {
    let params = request.params ?? .null
    switch request.method {
    case "page.open": try openPage(params, call)
    case "page.close": try closePage(params, call)
    case "page.call": try callPage(params, call)
    case "page.leave": try decideLeave(params, call)
    case "router.intercept": try decideInterception(params, call)
    case "task.run": try runTask(params, call)
    default:
      try runMethod(
        MethodCall(
          method: request.method, params: params, requestID: request.id.value,
          progress: progressHandler(of: call)),
        call)
    }
  }

  private func callPage(_ params: Value, _ call: ServerRequest) throws(CallError) {
    guard let id = params["page"]?.string, let name = params["method"]?.string else {
      throw CallError(.invalidParams, "page.call needs the strings page and method")
    }
    let caller = CallerDescription(params["caller"])
    let given = params["params"] ?? .null
    let method = MethodCall(
      method: name, params: given, caller: caller, requestID: call.id.value,
      keyedWork: keyedWork([.string(id), .string(name), given], params, caller),
      progress: progressHandler(of: call))
    if id == ownPage { return try runMethod(method, call) }
    guard let (page, host) = pages.shownPage(id) else {
      throw CallError(.noRoute, "This client does not show the page \(id)", kind: "notOnStack")
    }
    startWork(call) { try await host.call(method, of: page) }
  }

  private func runTask(_ params: Value, _ call: ServerRequest) throws(CallError) {
    guard let uri = params["uri"]?.string else {
      throw CallError(.invalidParams, "params.uri must be a string")
    }
    guard case .run(let run) = hosts.find(try MatchedHost(params["host"]))?.handler else {
      throw CallError(.hostAbsent, "This client does not run \(uri)")
    }
    let caller = CallerDescription(params["caller"])
    let task = TaskCall(
      uri: uri, params: params["params"]?.object ?? [:], exts: params["exts"]?.object ?? [:],
      caller: caller, requestID: call.id.value,
      keyedWork: keyedWork([.string(uri), params["params"] ?? .null], params, caller),
      progress: progressHandler(of: call))
    startWork(call) { try await run(task) }
  }

  /// Returns the idempotency key of a request; nil if it has none. `content` is what is called.
  private func keyedWork(
    _ content: Value, _ params: Value, _ caller: CallerDescription?
  ) -> KeyedWork? {
    params["key"]?.string.map { KeyedWork($0, content, of: caller, in: session?.id, hostKeys) }
  }

  /// Runs a method of this client.
  private func runMethod(_ method: MethodCall, _ call: ServerRequest) throws(CallError) {
    guard let run = methods[method.method] else { throw method.methodNotFound }
    startWork(call) { try await run(method) }
  }

  func startWork(
    _ call: ServerRequest, _ work: @escaping @Sendable () async throws -> Value
  ) {
    call.task = Task {
      do {
        let value = try await withTaskExecutorPreference(loop) { try await work() }
        complete(call, .success(value))
      } catch {
        complete(call, .failure(Self.hostError(error)))
      }
    }
  }

  /// Sends the response after the progress that was reported before.
  func complete(_ call: ServerRequest, _ result: Result<Value, CallError>) {
    loop.execute {
      self.assumeIsolated { client in
        // After a session was lost no response is possible; its ids may belong to another session
        // by now.
        guard client.serverRequests[call.id] === call else { return }
        _ = client.serverRequests.end(call.id)
        client.sendResponse(call.id, result)
      }
    }
  }

  /// The error that the server receives for an error that a host threw in the current task. The
  /// application's own codes reach the caller unchanged.
  static func hostError(_ error: any Error) -> CallError {
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

  func sendResponse(_ id: RequestID, _ result: Result<Value, CallError>) {
    writer.writeResult(id, readable(result))
    if writer.count > maxPayload {
      writer.writeError(
        id,
        CallError(
          .tooLarge,
          "The response has \(writer.count) bytes; the server's limit is \(maxMessage)"))
    }
    connection.send(writer.bytes, .sessionBound)
  }

  /// Returns the result as the server can read it: an error replaces a value that nests too deep,
  /// and such data of an error is left out.
  private func readable(_ result: Result<Value, CallError>) -> Result<Value, CallError> {
    switch result {
    case .success(let value):
      guard let path = value.path(deeperThan: maxDepth - 1, in: "result") else { return result }
      return .failure(
        CallError(
          .internal, "\(path) nests too deep; a message may have \(maxDepth) levels",
          kind: "unencodableResult"))
    case .failure(let error):
      // The data is a member of a member of the message.
      guard error.data?.path(deeperThan: maxDepth - 2, in: "data") != nil else { return result }
      return .failure(CallError(code: error.code, message: error.message))
    }
  }

  /// Returns a handler that reports the progress of a request. After the response, or if the value
  /// cannot be sent, it does nothing.
  func progressHandler(of call: ServerRequest) -> @Sendable (Value) -> Void {
    { [weak self] value in
      guard let self else { return }
      // Jobs of the loop run in order, so that progress stays in order and precedes the response.
      self.loop.execute { self.assumeIsolated { $0.sendProgress(call, value) } }
    }
  }

  private func sendProgress(_ call: ServerRequest, _ value: Value) {
    guard serverRequests[call.id] === call else { return }
    try? notify(
      "$/progress", ["id": call.id.value, "value": value], .progress(call.id))
  }
}
