import WayAgents
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Handles requests of AI agents over HTTP, in the Model Context Protocol. A call of a tool is a client
/// of a session of the agent's user. Usable from any thread.
package struct AgentEndpoint: Sendable {
  /// How many tools are checked against the policy in one turn of a loop.
  private static let toolsPerTurn = 128

  private let sessionServer: SessionServer
  private let server = MCPImplementation(
    name: ServerSoftware.name, version: ServerSoftware.version)
  /// The tools of the router, as of the last request.
  private let lastTable = Locked<AgentToolTable?>(nil)

  /// Creates the endpoint of a server.
  package init(_ sessionServer: SessionServer) {
    self.sessionServer = sessionServer
  }

  /// Handles the body of a POST. It responds with a JSON-RPC response, or with one of these statuses:
  /// - 202 to a notification
  /// - 400, 404 or 406 to a request that breaks a rule of the protocol
  /// - 401 if the client is rejected, or its token names no user
  /// - 429 if it calls too often
  /// - 503 if the server accepts no more calls
  ///
  /// The response is sent on `loop`. The returned work cancels the request, on that loop.
  package func respond(
    to body: [UInt8], of request: HTTPRequest, on loop: any EventLoop,
    _ respond: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    let head = MCPRequestHead(request.fields)
    let exchange = AgentExchange(head, on: loop, respond)
    do throws(MCPRejection) {
      guard head.acceptsJSON || head.acceptsEvents else {
        throw .notAcceptable("application/json or text/event-stream")
      }
      switch try MCPBody(body.span.bytes, head) {
      case .request(let incoming) where incoming.operation.needsEvents && !head.acceptsEvents:
        throw .notAcceptable("text/event-stream")
      case .notification: exchange.finish(HTTPResponse(status: 202))
      case .request(let incoming):
        guard let loopSessions = sessionServer.nextLoopSessions else {
          exchange.finish(.failure(.shuttingDown, of: incoming.id))
          break
        }
        exchange.run { await perform(incoming, request.handshake, on: loopSessions, exchange) }
      }
    } catch {
      exchange.finish(.rejection(error))
    }
    return exchange
  }

  private func perform(
    _ request: MCPRequest, _ handshake: Handshake, on loopSessions: LoopSessions,
    _ exchange: AgentExchange
  ) async {
    let identity: Identity
    do throws(CallError) {
      identity = try await authenticate(handshake, by: loopSessions)
    } catch {
      if error.protocolCode == .notAuthenticated {
        loopSessions.recordRejectedToken(error.message, of: EventClient(handshake))
      }
      return exchange.finish(.failure(error, of: request.id))
    }
    let caller = Caller(
      session: "", identity: identity,
      client: .init(id: "", name: request.client?.name, version: request.client?.version),
      isGuest: true,
      agent: .init(
        id: identity.program, name: request.client?.name, version: request.client?.version),
      origin: handshake.origin, address: handshake.address)
    let context = MCPResponseContext(request, from: server)
    do throws(MCPRejection) {
      switch request.operation {
      case .initialize: exchange.finish(context.initialization)
      case .ping: exchange.finish(context.pong)
      case .discover: exchange.finish(context.discovery(listens: true))
      case .listen(let toToolChanges):
        listen(toToolChanges, caller, context, on: loopSessions, exchange)
      case .listTools(let cursor):
        let list = await tools(for: caller, on: loopSessions)
        exchange.finish(try context.page(of: list, after: cursor))
      case .callTool(let call):
        guard let tool = table.tool(named: call.name) else {
          let list = await tools(for: caller, on: loopSessions)
          guard let message = context.search(list, call) else { throw .unknownTool(call.name) }
          return exchange.finish(message)
        }
        start(call, of: tool, for: request, caller, handshake, on: loopSessions, exchange)
      }
    } catch {
      exchange.finish(.rejection(context.rejecting(error)))
    }
  }

  /// Returns the identity of an agent, and counts its call. Fails with 2401, 2429 or 2503.
  private func authenticate(
    _ handshake: Handshake, by loopSessions: LoopSessions
  ) async throws(CallError) -> Identity {
    let identity = try await loopSessions.identity(of: handshake)
    guard let user = identity.user else {
      throw CallError(
        .notAuthenticated, "An agent needs a token that names the user for whom it acts")
    }
    try sessionServer.httpCallerRates.withLock { (rates) throws(CallError) in
      try rates.charge(1, of: user, at: loopSessions.loop.nanoseconds)
    }
    return identity
  }

  /// The tools of the router, whatever the policy allows.
  private var table: AgentToolTable {
    let snapshot = sessionServer.configuration.router.snapshot()
    return lastTable.withLock { last in
      if let last, last.version == snapshot.version { return last }
      let made = AgentToolTable(snapshot)
      last = made
      return made
    }
  }

  /// The tools that the policy allows an agent.
  private func tools(for caller: Caller, on loopSessions: LoopSessions) async -> AgentToolList {
    let snapshot = sessionServer.configuration.router.snapshot()
    var allowed: [AgentTool] = []
    var rest = table.tools[...]
    while !rest.isEmpty, !Task.isCancelled {
      let part = rest.prefix(Self.toolsPerTurn)
      rest = rest.dropFirst(part.count)
      allowed += await loopSessions.allowed(part, for: caller, in: snapshot)
    }
    return AgentToolList(allowed)
  }

  /// Starts the call of a tool.
  private func start(
    _ call: MCPToolCall, of tool: AgentTool, for request: MCPRequest, _ caller: Caller,
    _ handshake: Handshake, on loopSessions: LoopSessions, _ exchange: AgentExchange
  ) {
    let context = MCPResponseContext(request, from: server)
    let toolCall: AgentToolCall
    do { toolCall = try tool.call(call) } catch {
      return exchange.finish(context.failure(CallError(RouterResolutionError(error))))
    }
    let snapshot = sessionServer.configuration.router.snapshot()
    guard toolCall.leadsToTool(in: snapshot, for: caller) else {
      return exchange.finish(
        context.failure(
          .forbidden(
            "agents",
            "With these arguments, the URI \(toolCall.uri.text.quoted) leads to another route"
          )))
    }
    let progress = Locked(request.progressToken.map { MCPProgress($0) })
    let agentCall = AgentCall(
      toolCall, by: request.client,
      .init(
        report: { value in
          guard let message = progress.withLock({ $0?.notification(of: value) }) else { return }
          exchange.report(message)
        },
        complete: { result, session in
          var context = context
          context.session = session
          exchange.finish(context.result(result, of: tool))
        }))
    exchange.begin(
      context.failure(.shuttingDown),
      start: {
        loopSessions.loop.execute {
          agentCall.begin(caller.identity, handshake, on: loopSessions)
        }
      },
      stop: { loopSessions.loop.execute { agentCall.cancel() } })
  }

  /// Reports changes of the tools until the client goes, its token expires, or the server ends.
  private func listen(
    _ toToolChanges: Bool, _ caller: Caller, _ context: MCPResponseContext,
    on loopSessions: LoopSessions, _ exchange: AgentExchange
  ) {
    let slot: UserSlot?
    do throws(CallError) {
      slot = try sessionServer.userQuotas.connection(
        of: caller.identity.user, at: loopSessions.loop.nanoseconds)
    } catch {
      return exchange.finish(.failure(error, of: context.id))
    }
    let listeners = sessionServer.agentListeners
    let listener = Locked<Int?>(nil)
    let expiry = caller.identity.expires.map { expires in
      let now = sessionServer.configuration.now()
      return loopSessions.loop.schedule(after: .milliseconds(max(expires - now, 0))) {
        exchange.finish(context.listeningEnd)
      }
    }
    exchange.begin(
      context.listeningEnd,
      start: {
        // The acknowledgement is sent later in this turn, so that no change is missed, and first.
        exchange.report(context.acknowledgement(ofToolChanges: toToolChanges))
        guard toToolChanges else { return }
        let id = listeners.add { exchange.report(context.toolChange) }
        listener.withLock { $0 = id }
      },
      stop: {
        _ = slot
        expiry?.cancel()
        if let id = listener.withLock({ $0 }) { listeners.remove(id) }
      })
  }
}

extension HTTPResponse {
  fileprivate static func rejection(_ rejection: MCPRejection) -> HTTPResponse {
    HTTPResponse(status: rejection.status, contentType: jsonType, body: rejection.body)
  }

  /// The response to a request that the server does not serve.
  fileprivate static func failure(_ error: CallError, of id: RequestID) -> HTTPResponse {
    .rejection(error, body: MCPMessage(error, of: id).bytes)
  }
}

extension LoopSessions {
  /// Returns the tools that the policy allows a caller. For a route whose URI has parameters, the
  /// policy decides about an example.
  fileprivate func allowed(
    _ tools: ArraySlice<AgentTool>, for caller: Caller, in snapshot: RouterSnapshot
  ) -> [AgentTool] {
    let rights = Rights(caller, policy)
    return tools.filter { tool in
      guard let uri = tool.exampleURI,
        let resolution = try? snapshot.resolve(uri, checking: false, for: caller),
        resolution.route?.name.isSameUTF8(as: tool.route.name) == true
      else { return false }
      return rights.denial(ofOpening: resolution) == nil
    }
  }
}
