import WayRPC
import WayRouting
import WayValues

extension Session {
  /// `router.explain`: what the router says, with the hosts that are there now.
  func explain(_ params: MethodParams) throws(RPCError) -> Value {
    let uri = try params.string("uri")
    let given = try params.object("params") ?? [:]
    var explanation = routes.current().explain(uri, params: given)
    var presenter: Value = .null
    if let resolution = explanation.resolution {
      do {
        let destination = try destination(of: resolution)
        explanation.canOpen = destination.isServed
        if destination.isServed { explanation.kind = destination.routeKind }
        presenter = host(of: destination)
        if let reason = destination.reason { explanation.reason = reason }
      } catch {
        explanation.canOpen = false
        explanation.reason = error.message
        if let next = try fallback(of: resolution, after: error) {
          let destination = try? resolve(next.text, given)
          explanation.canOpen = destination?.isServed == true
          presenter = destination.map(host) ?? .null
          explanation.reason += "; the call goes on with \(next.text.quoted)"
        }
      }
    }
    var members = explanation.members
    members["host"] = presenter
    return .object(members)
  }

  /// Who shows or runs it, as pages tell it: a client, or `server` for Swift code.
  private func host(of destination: Destination) -> Value {
    switch destination.kind {
    case .hostedTask(let client), .page(.client(let client)):
      clients[client].map { .string($0.name) } ?? .null
    case .undefined: .null
    case .module,
      .task, .asyncTask, .page(.swift), .back, .selectTab:
      "server"
    }
  }
}

extension Destination {
  /// What the router could not know.
  fileprivate var reason: String? {
    switch kind {
    case .undefined: "no declared route matches, and the undefined-route handler would be asked"
    case .page(.client), .hostedTask:
      route == nil ? "no declared route matches; a client hosts such URIs" : nil
    default: nil
    }
  }
}
