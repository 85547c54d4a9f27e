import WayRPC
import WayRouting
import WayValues

/// By which of the two doors a call comes.
enum Entry {
  /// `router.open`: any route; a task's value comes as the outcome `finished`.
  case open
  /// `router.invoke`: tasks and services; their value is the answer.
  case invoke

  /// A task's value as this entry answers it.
  func answer(_ value: Value) -> Value {
    switch self {
    case .invoke: value
    case .open: Outcome.finished(data: value).value
    }
  }
}

/// What a URI leads to, and with which parameters.
struct Destination {
  enum Kind {
    case task(@Sendable (Call) throws -> Value)
    case asyncTask(@Sendable (Call) async throws -> Value)
    case hostedTask(ClientID)
    case page(Presenter)
    /// `navigation:back`
    case back
    /// `navigation:selectTab`
    case selectTab
    case undefined(UndefinedRouteHandler)
    /// What serves the route is registered when it is called.
    case module(LazyModule)
  }

  let uri: RouteURI
  let kind: Kind
  let routeKind: RouteKind
  /// The declared route's.
  let match: Match?
  let pathParams: ValueObject
  let params: ValueObject

  var route: Route? { match?.route }

  /// Whether somebody serves the URI: what the undefined-route handler would say is not asked.
  var isServed: Bool {
    if case .undefined = kind { false } else { true }
  }
}

extension Session {
  /// `router.open` and `router.invoke`.
  func enter(_ entry: Entry, _ request: Request, _ origin: Origin) throws(RPCError) -> Reply {
    let asked = try CallParams(request, entry, page: origin.client.page)
    let resolution = try look(up: asked.uri, asked.params)
    if case .match(let match) = resolution, case .task(let run) = match.route.handler,
      match.custom == nil, !heard.contains(.task), !routes.current().hasHooks
    {
      let call = swiftCall(match.uri, match.params, match.route, asked.options)
      var verdict: InterceptorChain.Verdict? = .pass
      if let chain = match.interceptors { verdict = chain.judge(call) }
      switch verdict {
      case .pass?:
        if let reply = self.run(run, call, entry) { return reply }
        return try declined(match, entry, options(of: asked, origin), .origin(origin))
      case let verdict?:
        return try follow(
          verdict, resolution, entry, options(of: asked, origin), .origin(origin))
      case nil: break
      }
    }
    return try proceed(resolution, entry, options(of: asked, origin), .origin(origin))
  }

  private func options(of asked: CallParams, _ origin: Origin) -> CallOptions {
    var options = asked.options
    options.isInBatch = origin.batch != nil
    options.given = asked.params
    return options
  }

  /// `checking` false leaves the parameters unchecked, for a URI that is not called yet.
  func look(
    up text: String, _ params: ValueObject, checking: Bool = true
  ) throws(RPCError) -> Resolution {
    do {
      return try routes.resolve(text, params: params, checking: checking)
    } catch {
      throw RPCError(error)
    }
  }

  /// Finds what a URI leads to: declared routes first, then what hosts show without a declaration, then the
  /// fallback of the route or the scheme, then the undefined-route handler. Runs nothing.
  func resolve(
    _ text: String, _ params: ValueObject, checking: Bool = true
  ) throws(RPCError) -> Destination {
    var text = text
    var trail: [String] = []
    while true {
      let resolution = try look(up: text, params, checking: checking)
      do { return try destination(of: resolution) } catch {
        guard let next = try fallback(of: resolution, after: error) else { throw error }
        trail.append(text)
        guard trail.count <= Redirect.maxHops else {
          throw RPCError(.redirectLoop(chain: trail + [next.text]))
        }
        text = next.text
      }
    }
  }

  func destination(of resolution: Resolution) throws(RPCError) -> Destination {
    switch resolution {
    case .match(let match):
      return Destination(
        uri: match.uri, kind: try handler(of: match), routeKind: match.route.kind,
        match: match, pathParams: match.pathParams, params: match.params)
    case .navigation(let uri, let operation, let params):
      let kind: Destination.Kind
      switch operation {
      case "back": kind = .back
      case "selectTab": kind = .selectTab
      default: throw .noRoute(uri.text)
      }
      return Destination(
        uri: uri, kind: kind, routeKind: .task, match: nil, pathParams: [:], params: params)
    case .undeclared(let uri, let dispatcher, let params):
      let (kind, routeKind) = try handler(ofUndeclared: uri, dispatcher)
      return Destination(
        uri: uri, kind: kind, routeKind: routeKind, match: nil, pathParams: [:], params: params)
    }
  }

  private func handler(of match: Match) throws(RPCError) -> Destination.Kind {
    if let custom = match.custom { return .asyncTask(custom) }
    switch match.route.handler {
    case .task(let run): return .task(run)
    case .asyncTask(let run): return .asyncTask(run)
    case .page(let handler): return .page(.swift(handler))
    case .lazy(let module): return .module(module)
    case .hosted:
      guard let host = hosts.find(match.uri, kind: match.route.kind) else {
        throw RPCError(
          .hostAbsent, "The route \(match.route.name.quoted) has no host in this session")
      }
      return match.route.kind == .page ? .page(.client(host.client)) : .hostedTask(host.client)
    }
  }

  private func handler(
    ofUndeclared uri: RouteURI, _ dispatcher: Dispatcher?
  ) throws(RPCError) -> (Destination.Kind, RouteKind) {
    if let host = hosts.find(uri, kind: nil) {
      return (
        host.kind == .page ? .page(.client(host.client)) : .hostedTask(host.client), host.kind
      )
    }
    if case .custom(let run)? = dispatcher?.action { return (.asyncTask(run), .task) }
    let snapshot = routes.current()
    // The scheme's own target goes first.
    if !snapshot.hasUndefinedTarget(uri), let handler = snapshot.undefinedRoute {
      return (.undefined(handler), .task)
    }
    throw .noRoute(uri.text)
  }

  func canOpen(_ params: MethodParams) throws(RPCError) -> Value {
    let text = try params.string("uri")
    do {
      let destination = try resolve(text, [:], checking: false)
      guard destination.isServed else { return ["canOpen": false] }
      var members: ValueObject = [
        "canOpen": true, "kind": .string(destination.routeKind.rawValue),
      ]
      if let route = destination.route { members["route"] = .string(route.name) }
      return .object(members)
    } catch  where error.code != ErrorCode.invalidParams.rawValue {
      return ["canOpen": false]
    }
  }

  /// Carries out what a URI leads to.
  func perform(
    _ destination: Destination, _ entry: Entry, _ options: CallOptions, _ caller: Caller
  ) throws(RPCError) -> Reply {
    if let carried = options.carried { try destination.check(carried) }
    switch destination.kind {
    case .task(let run):
      let ended = taskStarted(destination)
      let asked = swiftCall(destination.uri, destination.params, destination.route, options)
      guard let reply = self.run(run, asked, entry) else {
        ended?(.failure(.declined))
        guard let match = destination.match else { throw .declined }
        return try declined(match, entry, options, caller)
      }
      switch reply {
      case .result(let value): ended?(.success(value))
      case .failure(let error): ended?(.failure(error))
      case .later: break
      }
      return reply
    case .asyncTask(let run):
      let call = try begin(caller, deadline: options.deadline)
      call.ended = taskStarted(destination)
      let asked = swiftCall(
        destination.uri, destination.params, destination.route, options, call.number)
      return later(call, destination.uri.text) { session, number in
        do {
          return .result(entry.answer(try await run(asked)))
        } catch is Declined {
          guard let match = destination.match, let call = session.calls[number] else {
            throw RPCError.declined
          }
          call.ended?(.failure(.declined))
          call.ended = nil
          return try session.declined(match, entry, options, .call(call))
        } catch {
          return .failure(.thrown(error))
        }
      }
    case .hostedTask(let client):
      guard let host = clients[client] else {
        throw RPCError(.hostAbsent, "The host of \(destination.uri.text.quoted) is gone")
      }
      let call = try begin(caller, deadline: options.deadline)
      call.ended = taskStarted(destination)
      return forward(
        "task.run",
        [
          "uri": .string(destination.uri.text), "params": .object(destination.params),
          "exts": .object(options.exts),
        ], to: host, entry, call)
    case .back:
      let target = try BackRequest(backBy: destination.params)
      return back(target, entry, try begin(caller, deadline: options.deadline))
    case .selectTab:
      return try select(try TabRequest(selectBy: destination.params), entry, caller)
    case .page(let presenter):
      guard entry == .open || options.answersChange else {
        throw RPCError(
          .wrongKind, "\(destination.uri.text.quoted) is a page: use router.open, not router.invoke"
        )
      }
      guard !options.isInBatch else {
        throw RPCError(
          .wrongKind, "A page cannot be opened in a batch: its answer would hold up the others")
      }
      var options = options
      if options.style == .tab, options.tab == nil { options.tab = try tab(of: destination) }
      open(
        destination, presenter, entry, options, try begin(caller, deadline: options.deadline))
      return .later
    case .module(let module):
      return try load(module, destination.uri.text, entry, options, caller)
    case .undefined(let handler):
      let call = try begin(caller, deadline: options.deadline)
      return undefined(handler, destination, entry, options, call)
    }
  }

  /// Runs a synchronous task to its result: no Swift task is made, and the thread is not left. Nil when it declines.
  private func run(
    _ task: @Sendable (Call) throws -> Value, _ call: Call, _ entry: Entry
  ) -> Reply? {
    do {
      return .result(entry.answer(try task(call)))
    } catch is Declined {
      return nil
    } catch {
      return .failure(.thrown(error))
    }
  }

  func swiftCall(
    _ uri: RouteURI, _ params: ValueObject, _ route: Route?, _ options: CallOptions,
    _ number: CallNumber? = nil
  ) -> Call {
    let navigator = SessionNavigator(own: self, page: options.from)
    options.carried?.begin()
    guard let number else {
      guard let carried = options.carried else {
        return Call(
          uri: uri, params: params, exts: options.exts, route: route, navigator: navigator)
      }
      return Call(
        uri: uri, params: params, exts: options.exts, route: route, navigator: navigator,
        deadline: nil, carried: carried, progress: { _ in })
    }
    return Call(
      uri: uri, params: params, exts: options.exts, route: route, navigator: navigator,
      deadline: options.deadline.map { ContinuousClock.now + $0 }, carried: options.carried,
      progress: { value in
        self.loop.execute { self.assumeIsolated { $0.report(value, of: number) } }
      })
  }
}
