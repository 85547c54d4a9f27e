import WayNavigation
import WayPatterns
import WayRouting
import WayValues

// Starts what a ``CallOperation`` describes.
extension Session {
  /// Starts a call. Throws the error that ends it, unless the failure handler runs for it.
  func start(
    _ operation: CallOperation, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    switch operation {
    case .route(let kind, let uri, let options):
      return try advance(SessionCallResolution(kind, uri, options), for: origin)
    case .pageMethod(let pageRequest): return try start(pageRequest, for: origin)
    case .clientMethod(let clientRequest): return try start(clientRequest, for: origin)
    case .deepLink(let link, let sender, let keyOwner):
      try deliver(link, for: sender, by: sender.rights, keyOwner: keyOwner)
      return .value(.null)
    }
  }

  /// Starts the work of a call, and settles the call if that ends it. `earlier` is the error with
  /// which the work has failed before; it stands if the work cannot start again.
  func run(_ operation: CallOperation, _ call: ActiveCall, after earlier: CallError? = nil) {
    do throws(CallError) {
      switch try start(operation, for: .call(call)) {
      case .now(let response): settle(call.number, .success(response))
      case .failed(let error): settle(call.number, .failure(earlier ?? error))
      case .later: break
      }
    } catch {
      if let uri = operation.uri {
        events.emitRouteFailure(uri, error, by: operation.rights.caller)
      }
      settle(call.number, .failure(earlier ?? error))
    }
  }

  /// Returns the client or handler that serves a method of a page.
  func target(of pageRequest: PageMethodRequest) throws(CallError) -> PageMethodTarget {
    try PageMethodTarget(of: pageRequest, in: pages, clients, resolver)
  }

  private func start(
    _ pageRequest: PageMethodRequest, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    let rights = pageRequest.rights
    // A request without a target does not become a call.
    let found: PageMethodTarget? =
      if case .request = origin { try target(of: pageRequest) } else { nil }
    let call = try beginCall(origin, timeout: pageRequest.timeout, size: pageRequest.size)
    call.attemptedOperation = failedOperation(
      "page.call", about: pageRequest.page, by: rights.caller)
    call.rights = rights
    let target = if let found { found } else { try target(of: pageRequest) }
    switch target {
    case .client(let client, let page):
      call.recordTarget(nil, host: client.name, page: page)
      forward("page.call", .object(pageRequest.requestParams), to: client, call)
    case .app(let handler, let page): run(pageRequest, by: handler, of: page, call)
    }
    return .later
  }

  private func run(
    _ pageRequest: PageMethodRequest, by handler: PageHandler, of page: Page, _ call: ActiveCall
  ) {
    guard let run = handler.call else {
      return settle(call.number, .failure(.noMethod(pageRequest.method)))
    }
    let uri: RouteURI
    do { uri = try RouteURI(mapping: page.uri) } catch {
      let unread = CallError(.internal, "The page's URI cannot be read: \(error)")
      return settle(call.number, .failure(unread))
    }
    let options = SessionCallOptions(
      rights: pageRequest.rights, callingPage: page.id, timeout: pageRequest.timeout,
      idempotencyKey: pageRequest.key)
    let resolution = Resolution.unmatched(UnmatchedURI(uri), params: pageRequest.params)
    let handlerCall = Call(resolution, options, call.number, in: self)
    call.work = .task(
      Task {
        do {
          let value = try await run(page, pageRequest.method, handlerCall)
          settle(call.number, .success(.value(value)))
        } catch is UnknownMethod {
          settle(call.number, .failure(.noMethod(pageRequest.method)))
        } catch {
          let thrown = events.reportThrown(error, by: pageRequest.rights.caller)
          settle(call.number, .failure(thrown))
        }
      })
  }

  private func start(
    _ clientRequest: ClientMethodRequest, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    guard let client = clients.named(clientRequest.client) else {
      throw .clientAbsent(clientRequest.client)
    }
    let call = try beginCall(origin, size: 0)
    call.rights = clientRequest.rights
    let id = request(
      client, clientRequest.method, .object(clientRequest.params), for: .push(call.number),
      timeout: clientRequest.timeout)
    if let id { call.work = .request(id, client) }
    return .later
  }
}

extension CallError {
  fileprivate static func noMethod(_ method: String) -> CallError {
    let unknown = CallError(.methodNotFound, "The page has no method \(method.quoted)")
    return SessionClientRequestFailure.errorResponse(unknown).taskError
  }
}
