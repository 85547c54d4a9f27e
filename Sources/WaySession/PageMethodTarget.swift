import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The client or handler that serves the methods of a page.
enum PageMethodTarget {
  case client(Client, page: String)
  case app(PageHandler, Page)

  /// Finds the last client that runs in the page, or else the page's host. If a client calls its
  /// own page, the target is the host or another client that runs there.
  ///
  /// Fails with 2404 or 2504 if there is no target.
  init(
    of page: String, for rights: Rights, except caller: ClientID? = nil,
    in session: isolated Session
  ) throws(CallError) {
    guard let open = session.pages[page] else {
      throw .notOnStack("params.page: there is no page \(page.quoted) on the stack")
    }
    if rights.guests.contains(where: { !session.pages.isOwn(open.page, of: $0) }) {
      throw .notInvited("A guest may call methods only of its own page and of pages that it opened")
    }
    if let denial = session.resolver.denial(of: .pageCall, about: open.page, to: rights) {
      throw denial
    }
    if let client = session.clients.inside(page: page, except: caller) {
      self = .client(client, page: page)
      return
    }
    switch open.hostReference {
    case .client(let id):
      guard let host = session.clients[id] else {
        throw CallError(.hostAbsent, "The host of the page \(page.quoted) is gone")
      }
      self = .client(host, page: page)
    case .app(let handler): self = .app(handler, open.page)
    }
  }

  /// Runs a method of the page for a call, which may have an idempotency key.
  func run(
    _ method: String, _ params: ValueObject, _ rights: Rights, _ timeout: Duration?,
    key: RouterIdempotencyKey? = nil, _ call: ActiveCall, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    call.rights = rights
    switch self {
    case .client(let client, let page):
      if session.environment.inspector.isActive {
        call.recordTarget(nil, host: client.name, page: page)
      }
      var request: ValueObject = [
        "page": .string(page), "method": .string(method), "params": .object(params),
        "caller": rights.callerValue,
      ]
      request["key"] = key.map { .string($0.text) }
      session.forward("page.call", .object(request), to: client, call)
    case .app(let handler, let page):
      guard let run = handler.call else {
        session.settle(call.number, .failure(.noMethod(method)))
        break
      }
      let uri: RouteURI
      do { uri = try RouteURI(mapping: page.uri) } catch {
        let unread = CallError(.internal, "The page's URI cannot be read: \(error)")
        session.settle(call.number, .failure(unread))
        break
      }
      let options = SessionCallOptions(
        rights: rights, callingPage: page.id, timeout: timeout, idempotencyKey: key)
      let resolution = Resolution.unmatched(UnmatchedURI(uri), params: params)
      let handlerCall = Call(resolution, options, call.number, in: session)
      call.work = .task(
        Task {
          do {
            let value = try await run(page, method, handlerCall)
            session.settle(call.number, .success(.value(value)))
          } catch is UnknownMethod {
            session.settle(call.number, .failure(.noMethod(method)))
          } catch {
            session.settle(
              call.number, .failure(session.events.reportThrown(error, by: rights.caller)))
          }
        })
    }
    return .later
  }
}

extension CallError {
  fileprivate static func noMethod(_ method: String) -> CallError {
    let unknown = CallError(.methodNotFound, "The page has no method \(method.quoted)")
    return SessionClientRequestFailure.errorResponse(unknown).taskError
  }
}
