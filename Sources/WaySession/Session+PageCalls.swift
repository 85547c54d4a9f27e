import WayRPC
import WayRouting
import WayValues

// Methods of pages: calls that are forwarded to who runs in a page, or shows it.
extension Session {
  func callPage(_ params: MethodParams, _ origin: Origin) throws(RPCError) -> Reply {
    let page = try params.string("page")
    let method = try params.string("method")
    let given = try params.object("params") ?? [:]
    let deadline = try params.count("deadlineMs").map { Duration.milliseconds($0) }
    let receiver = try receiver(of: page, except: origin.client)
    let call = try begin(.origin(origin), deadline: deadline)
    return callPage(receiver, page, method, given, deadline, call)
  }

  /// Who answers for a page: the client that runs in it, the last of several; else its host. A client that asks for its own page
  /// means the host, or others that run there.
  func receiver(of page: String, except caller: Client? = nil) throws(RPCError) -> PageReceiver {
    guard let open = pages[page] else {
      throw .notOnStack("params.page: there is no page \(page.quoted) on the stack")
    }
    let inside = clients.values.filter { $0.page == page && $0.id != caller?.id }
    if let client = inside.max(by: { $0.id < $1.id }) { return .client(client) }
    switch open.presenter {
    case .client(let id):
      guard let host = clients[id] else {
        throw RPCError(.hostAbsent, "The host of the page \(page.quoted) is gone")
      }
      return .client(host)
    case .swift(let handler): return .swift(open.page, handler)
    }
  }

  func callPage(
    _ receiver: PageReceiver, _ page: String, _ method: String, _ params: ValueObject,
    _ deadline: Duration?, _ call: CallInFlight
  ) -> Reply {
    switch receiver {
    case .client(let client):
      let params: Value = [
        "page": .string(page), "method": .string(method), "params": .object(params),
      ]
      return forward("page.call", params, to: client, .invoke, call)
    case .swift(let page, let handler):
      guard let run = handler.call else {
        let unknown = RPCError(.methodNotFound, "The page has no method \(method.quoted)")
        settle(call.number, .failure(RequestFailure.answered(unknown).ofTask))
        return .later
      }
      let uri: RouteURI
      do {
        uri = try RouteURI(mapping: page.uri)
      } catch {
        settle(
          call.number, .failure(RPCError(.internal, "The page's URI cannot be read: \(error)")))
        return .later
      }
      let asked = swiftCall(
        uri, params, nil, CallOptions(from: page.id, deadline: deadline), call.number)
      return self.run(call, as: .invoke) { try await run(page, method, asked) }
    }
  }
}

/// Who answers the methods of a page.
enum PageReceiver {
  case client(Client)
  case swift(Page, PageHandler)
}
