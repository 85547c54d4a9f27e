import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Who answers the methods of a page.
enum PageMethodTarget {
  case client(Client, page: String)
  case swift(PageHandler, Page)

  /// The client that runs in the page, the last of several; else its host. A client that asks for
  /// its own page means the host, or others that run there. Fails with 2404 or 2504 where there is
  /// nobody.
  init(
    of page: String, for rights: Rights, except caller: ClientID? = nil,
    in session: isolated Session
  ) throws(CallError) {
    guard let open = session.pages[page] else {
      throw .notOnStack("params.page: there is no page \(page.quoted) on the stack")
    }
    if rights.guests.contains(where: { !session.pages.isOwn(open.page, of: $0) }) {
      throw .uninvited("A guest calls no pages but its own and those that it opened")
    }
    if let said = try? session.guide.look(
      up: open.page.uri, [:], checking: false, for: rights.caller)
    {
      try rights.check(.pageCall, said)
    }
    if let client = session.members.inside(page: page, except: caller) {
      self = .client(client, page: page)
      return
    }
    switch open.presenter {
    case .client(let id):
      guard let host = session.members[id] else {
        throw CallError(.hostAbsent, "The host of the page \(page.quoted) is gone")
      }
      self = .client(host, page: page)
    case .swift(let handler): self = .swift(handler, open.page)
    }
  }

  /// Has a method of the page run for a call, which may have a key.
  func run(
    _ method: String, _ params: ValueObject, _ rights: Rights, _ deadline: Duration?,
    key: IdempotencyKey? = nil, _ call: CallInFlight, in session: isolated Session
  ) throws(CallError) -> Reply {
    call.rights = rights
    switch self {
    case .client(let client, let page):
      if session.environment.watch.isOn {
        call.noted(nil, host: client.name, page: page)
      }
      let params: Value = [
        "page": .string(page), "method": .string(method), "params": .object(params),
        "caller": rights.told,
      ]
      session.forward("page.call", params, to: client, call)
    case .swift(let handler, let page):
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
      let options = SessionCallOptions(rights: rights, from: page.id, deadline: deadline, key: key)
      let said = Resolution.undeclared(UnmatchedURI(uri), params: params)
      let asked = Call(said, options, call.number, in: session)
      call.work = .task(
        Task {
          do {
            let value = try await run(page, method, asked)
            session.settle(call.number, .success(.value(value)))
          } catch is UnknownMethod {
            session.settle(call.number, .failure(.noMethod(method)))
          } catch {
            session.settle(call.number, .failure(session.happenings.thrown(error)))
          }
        })
    }
    return .later
  }
}

extension CallError {
  fileprivate static func noMethod(_ method: String) -> CallError {
    let unknown = CallError(.methodNotFound, "The page has no method \(method.quoted)")
    return RequestFailure.answered(unknown).ofTask
  }
}
