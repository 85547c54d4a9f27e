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
    case .stackEdit(let edit): return try start(edit, for: origin)
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

  /// Returns the client or handler that serves a method of a page, and adds the defaults of its
  /// declared parameters. Fails with 2422 if the parameters do not fit the declaration.
  func prepare(
    _ pageRequest: inout PageMethodRequest
  ) throws(CallError) -> PageMethodTarget {
    let target = try PageMethodTarget(of: pageRequest, in: pages, clients, resolver)
    let route = pages[pageRequest.page]?.page.route
    if let method = resolver.snapshot.method(pageRequest.method, ofPagesOf: route) {
      do { try method.check(&pageRequest.params) } catch { throw CallError(error) }
    }
    return target
  }

  private func start(
    _ request: PageMethodRequest, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    var pageRequest = request
    let rights = pageRequest.rights
    // A request without a target does not become a call.
    let found: PageMethodTarget? =
      if case .request = origin { try prepare(&pageRequest) } else { nil }
    let call = try beginCall(origin, timeout: pageRequest.timeout, size: pageRequest.size)
    call.attemptedOperation = failedOperation(
      "page.call", about: pageRequest.page, by: rights.caller)
    call.rights = rights
    let target = if let found { found } else { try prepare(&pageRequest) }
    expectResult(of: pageRequest, from: target, call)
    switch target {
    case .client(let client, let page):
      call.recordTarget(nil, host: client.name, page: page)
      forward("page.call", .object(pageRequest.requestParams), to: client, call)
    case .app(let handler, let page): run(pageRequest, by: handler, of: page, call)
    }
    return .later
  }

  private func expectResult(
    of pageRequest: PageMethodRequest, from target: PageMethodTarget, _ call: ActiveCall
  ) {
    guard let page = pages[pageRequest.page]?.page else { return }
    let host = if case .client(let client, _) = target { client.name } else { "server" }
    call.declaredResult = DeclaredResult(
      of: page, method: pageRequest.method, in: resolver.snapshot, host: host)
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
          settle(call.number, check(value, call.declaredResult))
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

// Edits of the stack: each page that one opens is resolved by a call of its own.
extension Session {
  /// Starts an edit of the stack. The call ends with the change.
  func start(
    _ request: StackEditRequest, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    let (params, rights) = (request.params, request.rights)
    try rights.authorize(PolicyRouteMethod.edit.name, .targetDependent)
    let call = try beginCall(origin, timeout: request.timeout, size: request.size)
    call.attemptedOperation = failedOperation(
      PolicyRouteMethod.edit.name, about: nil, by: rights.caller)
    call.rights = rights
    let range = params.range.map { range in
      range.map { resolver.reference($0, for: rights.caller) }
    }
    guard !params.pages.isEmpty else {
      changeStack(
        .edit(range, opening: []), params.exts, by: rights, as: .edit, for: call)
      return .later
    }
    call.work = .operation
    let parts = params.pages.map { _ in makeCallNumber() }
    pages.begin(
      StackEdit(range, parts: parts, for: call.number, by: rights.caller, exts: params.exts) {
        [resolver] page, byForce in
        resolver.denial(of: byForce ? .setGuard : .edit, about: page, to: rights)
      })
    for (number, page) in zip(parts, params.pages) where pages.isEditing(call.number) {
      resolve(page, as: number, of: call.number, request)
    }
    return .later
  }

  /// Starts the call that resolves a page of an edit, and puts its opening into the edit.
  private func resolve(
    _ page: AddedPage, as number: CallNumber, of edit: CallNumber, _ request: StackEditRequest
  ) {
    let receiver = AppCaller.ResultReceiver.code(onResult: { [weak self] result in
      self?.assumeIsolated { $0.partEnded(number, of: edit, page.uri, result) }
    })
    let caller = AppCaller(receiver: receiver)
    guard let call = beginCall(number, .open, caller, timeout: nil) else { return }
    call.uri = page.uri
    let options = SessionCallOptions(
      rights: request.rights, params: page.params, exts: page.exts, style: page.style,
      callingPage: request.callingPage, placement: .edit(edit), respondsWithChange: true)
    run(.route(.open, uri: page.uri, options), call)
  }

  /// Handles the end of the call of a page. The edit fails, unless it is the one that has ended it.
  private func partEnded(
    _ number: CallNumber, of edit: CallNumber, _ uri: String,
    _ result: Result<SessionCallResponse, CallError>
  ) {
    guard pages.isEditing(edit) else { return }
    switch result {
    case .success:
      let error = CallError(
        .wrongKind, "\(uri.quoted) is not a page, and cannot be put on the stack")
      perform(pages.failEdit(edit, error, by: number))
    case .failure(let error): perform(pages.failEdit(edit, error, by: number))
    }
  }
}

extension CallError {
  fileprivate static func noMethod(_ method: String) -> CallError {
    let unknown = CallError(.methodNotFound, "The page has no method \(method.quoted)")
    return SessionClientRequestFailure.errorResponse(unknown).taskError
  }
}
