import WayRPC
import WayRouting
import WayTransport
import WayValues

// Responses to clients, and requests to clients and to the hosts of calls.
extension Session {
  /// Sends the response to one request. `callStart` is the start of a call that did not complete at
  /// once.
  func respond(
    _ response: SessionCallResponse, to handle: ReplyHandle, _ callStart: CallStart? = nil
  ) {
    events.recordResponse(nil, of: handle, callStart) { .success(response) }
    clientWriter.respond(response, to: handle)
  }

  /// Sends the error response to one request, and records it if it is a refusal. `target` is the URI
  /// or the page of the request.
  func respond(
    _ error: CallError, to handle: ReplyHandle, _ callStart: CallStart? = nil,
    about target: @autoclosure () -> String? = nil
  ) {
    if error.isRefusal {
      events.recordRefusal(error, of: handle.method, about: target(), by: handle.caller)
    }
    events.recordResponse(error.code, of: handle, callStart) { .failure(error) }
    clientWriter.respond(error, to: handle)
  }

  /// Sends a request to a client. ``handleResponse(_:_:)`` gets its result, or the reason why there
  /// is none. Returns `nil` if the request cannot be sent.
  @discardableResult
  func request(
    _ client: Client, _ method: String, _ params: Value, for purpose: RequestPurpose,
    timeout: Duration? = nil
  ) -> RequestID? {
    do {
      let id = try clientWriter.request(client, method, params, for: purpose, by: self)
      if let timeout {
        clientWriter.setTimeout(id, client, setTimer(timeout, .request(id, client.id)))
      }
      events.traceRequest(id, params, to: client, for: call(of: purpose))
      return id
    } catch {
      handleResponse(purpose, .failure(error))
      return nil
    }
  }

  /// Returns the call for which a request is sent.
  private func call(of purpose: RequestPurpose) -> CallNumber? {
    if case .open(let page) = purpose { pages.call(openingOf: page) } else { purpose.call }
  }

  /// Handles the response of a client.
  func complete(_ response: Response, from client: Client) {
    guard let request = clientWriter.resolve(response, from: client) else { return }
    events.requestEnded(request, response.result, of: client)
    pages.markResponsive(client.name)
    forwardResponse(request, response.result.mapError(SessionClientRequestFailure.errorResponse))
  }

  /// Forwards a result to the sender of the request.
  func forwardResponse(
    _ request: PendingRequest, _ result: Result<Value, SessionClientRequestFailure>
  ) {
    guard let requester = request.requester, requester !== self else {
      return handleResponse(request.purpose, result)
    }
    requester.receive(result, for: request.purpose, on: loop)
  }

  nonisolated func receive(
    _ result: Result<Value, SessionClientRequestFailure>, for purpose: RequestPurpose,
    on current: (any EventLoop)?
  ) {
    perform(on: current) { $0.handleResponse(purpose, result) }
  }

  nonisolated func receiveProgress(
    _ value: Value, of call: CallNumber, on current: (any EventLoop)?
  ) {
    perform(on: current) { $0.reportProgress(value, of: call) }
  }

  /// Performs work in the session: at once if `current`, the loop of the caller, is its own.
  nonisolated func perform(
    on current: (any EventLoop)?, _ work: @escaping @Sendable (isolated Session) -> Void
  ) {
    guard current !== loop else { return assumeIsolated { work($0) } }
    loop.execute { self.assumeIsolated { work($0) } }
  }

  /// Returns the client that is to serve a call; `nil` if it is gone.
  func host(_ chosen: ChosenHost) -> ServerHosts.ServerHost? {
    if let client = clients[chosen.client] {
      return .init(name: client.name, location: .local(client, session: .init(requester: self)))
    }
    return environment.serverHosts[chosen.client]
  }

  func handleResponse(
    _ purpose: RequestPurpose, _ result: Result<Value, SessionClientRequestFailure>
  ) {
    switch purpose {
    case .close: break
    case .leave(let question): perform(pages.handleVerdict(.init(result), on: question))
    case .open(let page):
      let failure: SessionClientRequestFailure? =
        if case .failure(let failure) = result { failure } else { nil }
      perform(pages.handleResponse(page, failure?.pageError, declined: failure?.isDecline == true))
    case .run(let number) where calls[number]?.resolution != nil && result.isDecline:
      resumeDeclined(number)
    case .run(let number):
      if case .failure(let failure) = result, let error = failure.lossOfHost,
        restart(number, after: error)
      {
        return
      }
      let expected = calls[number]?.declaredResult
      if case .success(let value) = result, let host = calls[number]?.foreignHost {
        environment.blobs?.grants.share(value, of: host.session, with: id)
      }
      settle(
        number,
        result.mapError(\.taskError).flatMap { value in check(value, expected) })
    case .push(let number):
      settle(number, result.map(SessionCallResponse.value).mapError(\.callError))
    }
  }

  /// Forwards a call to a client, whose response, progress and failure are the call's.
  func forward(
    _ method: String, _ params: Value, to host: ServerHosts.ServerHost, _ call: ActiveCall
  ) {
    switch host.location {
    case .remote(let host):
      call.foreignHost = (host.session, nil)
      let request = PeerHostRequest(to: host, environment.operations)
      call.work = .remoteRequest(request)
      request.send(method, params, for: call.number, of: id, by: self, call.rights)
    case .local(let client, let hostSession):
      guard let hostSession = hostSession.requester as? Session else {
        return forward(method, params, to: client, call)
      }
      if hostSession !== self {
        let loan = environment.blobs?.grants.lend(params, of: id, to: client.name)
        call.foreignHost = (hostSession.id, loan)
      }
      guard hostSession.loop !== loop else { return forward(method, params, to: client, call) }
      let request = LoopHostRequest(to: client, of: hostSession)
      call.work = .remoteRequest(request)
      request.send(method, params, for: .run(call.number), by: self, call.rights)
    }
  }

  /// Forwards a call to a client on this loop.
  func forward(_ method: String, _ params: Value, to host: Client, _ call: ActiveCall) {
    // The request waits until the store knows who works on the call.
    if let key = call.leadKey { journal?.recordChange(.idempotencyKey(key)) }
    guard let id = request(host, method, params, for: .run(call.number)) else { return }
    call.work = .request(id, host)
    if let key = call.leadKey {
      idempotencyKeys.recordHostRequest(.init(client: host.id, id: id, method: method), of: key)
    }
  }

  /// Records a request to a host that has got its number, if it does the work of an idempotency key.
  func recordHostRequest(_ request: PendingRequest) {
    if let key = leadKey(of: request) { journal?.recordChange(.idempotencyKey(key)) }
  }

  /// Returns the idempotency key whose work a request does; `nil` if it does none, or has no number
  /// yet.
  func leadKey(of request: PendingRequest) -> ScopedKey? {
    guard case .run(let number) = request.purpose, request.sequenceNumber > 0,
      request.requester == nil || request.requester === self
    else { return nil }
    return calls[number]?.leadKey
  }
}
