import WayRPC
import WayRouting
import WayValues

// The methods that a client may call, and the notifications that it may send.
extension Session {
  func answer(_ request: Request, _ origin: Origin) -> Reply {
    do throws(RPCError) {
      if !origin.isSilent { try origin.client.calls.check(request.id) }
      switch request.method {
      case "router.invoke": return try enter(.invoke, request, origin)
      case "router.open": return try enter(.open, request, origin)
      case "router.canOpen": return .result(try canOpen(MethodParams(request)))
      case "router.explain": return .result(try explain(MethodParams(request)))
      case "router.routes": return .result(.list(routes.current().routes.map(\.value)))
      case "router.deliver": return .result(try deliver(MethodParams(request)))
      case "navigation.back": return try back(MethodParams(request), origin)
      case "navigation.finish": return try finish(MethodParams(request), origin)
      case "navigation.stack": return .result(stack.value(tabs: routes.current().tabs.map(\.text)))
      case "navigation.contains": return .result(try contains(MethodParams(request)))
      case "navigation.selectTab":
        return try select(try TabRequest(MethodParams(request)), .invoke, .origin(origin))
      case "navigation.adopt": return try adopt(MethodParams(request), origin)
      case "page.call": return try callPage(MethodParams(request), origin)
      case "events.subscribe": return try subscribe(MethodParams(request), origin)
      case "events.unsubscribe":
        return .result(try unsubscribe(MethodParams(request), origin.client))
      case "host.register": return .result(try registerHosts(MethodParams(request), origin.client))
      case "host.unregister":
        return .result(try unregisterHosts(MethodParams(request), origin.client))
      case "session.open":
        throw RPCError(.conflict, "This connection has opened its session already")
      case "session.close": return try close(origin)
      case "rpc.discover": return .result(OpenRPC.document)
      case "$/ping": return .result(.null)
      case let method where Self.adminMethods.contains(method):
        throw RPCError(
          .forbidden, "\(method) needs the policy's admin, and this server has no policy",
          data: ["rule": "no policy"])
      default:
        guard let method = settings.methods[request.method] else {
          throw RPCError(
            .methodNotFound,
            "There is no method \(request.method.quoted); rpc.discover lists the methods")
        }
        return .result(try method(request.params))
      }
    } catch {
      if heard.contains(.route) || routes.current().hasHooks { tellNowhere(request, error) }
      return .failure(error)
    }
  }

  /// What is refused by its id or the count of calls was never looked up.
  private func tellNowhere(_ request: Request, _ error: RPCError) {
    guard request.method == "router.open" || request.method == "router.invoke",
      error.errorCode != .conflict, error.errorCode != .tooMany
    else { return }
    tellNowhere(request.params?["uri"]?.string, error)
  }

  private static let adminMethods: Set<String> = [
    "table.get", "table.update", "table.rollback", "session.list", "session.push",
  ]

  func take(_ notification: Notification, _ client: Client) {
    switch notification.method {
    case "$/cancelRequest":
      guard let id = notification.params?["id"].flatMap(RequestID.init),
        let number = client.calls[id]
      else { return }
      stop(number, .cancelled)
    case "$/progress":
      guard let id = notification.params?["id"].flatMap(RequestID.init),
        let value = notification.params?["value"],
        let progress = client.pending[id]?.progress
      else { return }
      progress(value)
    default:
      // A method without an id is carried out and not answered (JSON-RPC 2.0 §4.1).
      let request = Request(
        id: .null, method: notification.method, params: notification.params)
      notified(request, client)
    }
  }

  /// Carries out a call that came as a notification: whatever it answers has no receiver.
  private func notified(_ request: Request, _ client: Client) {
    observe(request, client)
    let silent = Origin(
      client: client, id: .null, batch: nil, position: 0,
      method: CallMeter.method(request.method), isSilent: true)
    switch answer(request, silent) {
    case .result(let value): reply(.success(value), to: silent)
    case .failure(let error): reply(.failure(error), to: silent)
    case .later: break
    }
  }

  private func close(_ origin: Origin) throws(RPCError) -> Reply {
    guard origin.batch == nil else {
      throw RPCError(.invalidRequest, "session.close must not stand in a batch")
    }
    reply(.success(.null), to: origin)
    let channel = origin.client.channel
    removeClient(origin.client.id)
    channel?.close(.normal, "The client closed its session")
    return .later
  }

  private func registerHosts(
    _ params: MethodParams, _ client: Client
  ) throws(RPCError) -> Value {
    let definitions = try HostDefinition.list(params.required("hosts"), limits: settings.limits)
    try hosts.register(
      definitions, for: client.id, limits: settings.limits, router: routes.current())
    followLinks()
    return ["hosts": .list(hosts.definitions(of: client.id).map(\.value))]
  }

  private func unregisterHosts(
    _ params: MethodParams, _ client: Client
  ) throws(RPCError) -> Value {
    let definitions = try HostDefinition.list(params.required("hosts"), limits: settings.limits)
    try hosts.unregister(definitions, of: client.id)
    return ["hosts": .list(hosts.definitions(of: client.id).map(\.value))]
  }
}

extension String {
  /// In quotes and cut to a length that is fit for a message.
  var quoted: String {
    // Scalars, since one character may be as long as its sender likes.
    let shown = unicodeScalars.prefix(200)
    return "\"\(String(shown))\(shown.endIndex == endIndex ? "" : "…")\""
  }
}
