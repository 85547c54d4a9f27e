import WayRPC
import WayRouting
import WayValues

// What lies between a URI and who serves it: interceptors, and where a call goes on that nobody serves.
extension Session {
  /// Leads a call where its URI leads: past the interceptors, then to its handler or host.
  func proceed(
    _ resolution: Resolution, _ entry: Entry, _ options: CallOptions, _ caller: Caller
  ) throws(RPCError) -> Reply {
    if case .match(let match) = resolution, case .lazy(let module) = match.route.handler {
      return try load(module, match.uri.text, entry, options, caller)
    }
    guard let chain = routes.current().interceptors(of: resolution) else {
      return try carryOut(resolution, entry, options, caller)
    }
    // Nobody is asked about what goes nowhere; the undefined-route handler's redirect comes by here again.
    do {
      let destination = try destination(of: resolution)
      guard destination.isServed else { return try perform(destination, entry, options, caller) }
    } catch {
      return try goOn(from: resolution, after: error, entry, options, caller)
    }
    if let verdict = chain.judge(swiftCall(resolution, options)) {
      return try follow(verdict, resolution, entry, options, caller)
    }
    let call = try begin(caller, deadline: options.deadline)
    let asked = swiftCall(resolution, options, call.number)
    return later(call, resolution.uri.text) { session, number in
      let verdict = await chain.judge(asked) { delay, work in
        let alarm = session.loop.schedule(after: delay, work)
        return { alarm.cancel() }
      }
      guard let call = session.calls[number] else { return .later }
      return try session.follow(verdict, resolution, entry, options, .call(call))
    }
  }

  /// Has a module register what serves a URI, and then leads the call there.
  func load(
    _ module: LazyModule, _ uri: String, _ entry: Entry, _ options: CallOptions, _ caller: Caller
  ) throws(RPCError) -> Reply {
    let call = try begin(caller, deadline: options.deadline)
    let router = routes.router
    return later(call, uri) { session, number in
      do { try await module.load(into: router) } catch {
        throw RPCError(.internal, "The module \(module.name.quoted) could not register: \(error)")
      }
      guard let call = session.calls[number] else { return .later }
      let next = try session.look(up: uri, options.given)
      if case .lazy(let same)? = next.route?.handler, same === module {
        throw RPCError(
          .internal, "The module \(module.name.quoted) gave the route of \(uri.quoted) no handler")
      }
      return try session.proceed(next, entry, options, .call(call))
    }
  }

  /// Does what the interceptors have decided.
  func follow(
    _ verdict: InterceptorChain.Verdict, _ resolution: Resolution, _ entry: Entry,
    _ options: CallOptions, _ caller: Caller
  ) throws(RPCError) -> Reply {
    switch verdict {
    case .pass: return try carryOut(resolution, entry, options, caller)
    case .changed(let params):
      let changed: Resolution
      do { changed = try resolution.with(params) } catch { throw RPCError(error) }
      return try carryOut(changed, entry, options, caller)
    case .redirect(let uri, let params, _):
      var options = options
      if let params { options.given = params }
      return try redirect(from: resolution.uri.text, to: uri, entry, options, caller)
    case .refused(let interceptor, let reason):
      throw RPCError(
        .refused, "Refused by \(interceptor.quoted): \(reason)",
        data: ["interceptor": .string(interceptor), "reason": .string(reason)])
    case .failed(let error): throw .thrown(error)
    }
  }

  private func carryOut(
    _ resolution: Resolution, _ entry: Entry, _ options: CallOptions, _ caller: Caller
  ) throws(RPCError) -> Reply {
    let destination: Destination
    do { destination = try self.destination(of: resolution) } catch {
      return try goOn(from: resolution, after: error, entry, options, caller)
    }
    return try perform(destination, entry, options, caller)
  }

  /// Leads a call elsewhere, itself unchanged.
  func redirect(
    from uri: String, to next: String, _ entry: Entry, _ options: CallOptions, _ caller: Caller
  ) throws(RPCError) -> Reply {
    var options = options
    options.trail.append(uri)
    options.rest = nil
    guard options.trail.count <= Redirect.maxHops else {
      throw RPCError(.redirectLoop(chain: options.trail + [next]))
    }
    return try proceed(try look(up: next, options.given), entry, options, caller)
  }

  /// Where a call goes on that nobody serves; throws `error` where it does not.
  private func goOn(
    from resolution: Resolution, after error: RPCError, _ entry: Entry, _ options: CallOptions,
    _ caller: Caller
  ) throws(RPCError) -> Reply {
    guard let next = try fallback(of: resolution, after: error) else { throw error }
    return try redirect(from: resolution.uri.text, to: next.text, entry, options, caller)
  }

  /// Where a call goes on that nobody serves for this reason; nil for nowhere.
  func fallback(
    of resolution: Resolution, after error: RPCError
  ) throws(RPCError) -> RouteURI? {
    do {
      switch resolution {
      case .match(let match) where error.code == ErrorCode.hostAbsent.rawValue:
        return try routes.current().fallback(of: match)
      case .undeclared(let uri, _, _) where error.code == ErrorCode.noRoute.rawValue:
        return try routes.current().undefinedTarget(of: uri)
      default: return nil
      }
    } catch {
      throw RPCError(error)
    }
  }

  /// Leads a call on whose handler has declined: to the next match, then to the route's fallback, then to what its
  /// scheme and the app have for undefined routes.
  func declined(
    _ match: Match, _ entry: Entry, _ options: CallOptions, _ caller: Caller
  ) throws(RPCError) -> Reply {
    var options = options
    let snapshot = routes.current()
    do {
      let rest = try options.rest ?? snapshot.matches(after: match, params: options.given)[...]
      options.rest = rest.dropFirst()
      if let next = rest.first {
        return try proceed(.match(next), entry, options, caller)
      }
      if let next = try snapshot.fallback(of: match) ?? snapshot.undefinedTarget(of: match.uri) {
        return try redirect(from: match.uri.text, to: next.text, entry, options, caller)
      }
    } catch {
      throw .ofLookup(error)
    }
    guard let handler = snapshot.undefinedRoute else {
      throw RPCError(
        .noRoute, "Every route that matches \(match.uri.text.quoted) declined", kind: "declined")
    }
    return try perform(
      Destination(
        uri: match.uri, kind: .undefined(handler), routeKind: .task, match: nil, pathParams: [:],
        params: match.params), entry, options, caller)
  }

  /// Asks the undefined-route handler.
  func undefined(
    _ handler: @escaping UndefinedRouteHandler, _ destination: Destination, _ entry: Entry,
    _ options: CallOptions, _ call: CallInFlight
  ) -> Reply {
    let uri = destination.uri.text
    let asked = swiftCall(destination.uri, destination.params, nil, options, call.number)
    let began = loop.nanoseconds
    return later(call, uri) { session, number in
      let decision: UndefinedRoute
      do { decision = try await handler(asked) } catch { throw RPCError.thrown(error) }
      switch decision {
      case .decline: throw RPCError.noRoute(uri)
      case .answer(let value):
        session.tellHooks(.didRun(uri: uri, route: nil, after: session.elapsed(since: began)))
        return .result(entry.answer(value))
      case .redirect(let next, let params):
        guard let call = session.calls[number] else { return .later }
        var options = options
        options.given = params
        return try session.redirect(from: uri, to: next, entry, options, .call(call))
      }
    }
  }

  /// Goes on with a call when `work` has been waited for. What it throws is the call's answer; by then the call may
  /// have been settled.
  func later(
    _ call: CallInFlight, _ uri: String,
    _ work:
      @escaping @Sendable (isolated Session, CallNumber) async throws -> Reply
  ) -> Reply {
    let number = call.number
    let task = Task {
      do { take(try await work(self, number), of: number) } catch {
        settle(number, uri, .thrown(error))
      }
    }
    call.stop = { _ in task.cancel() }
    return .later
  }

  /// What a call that goes on has come to.
  func take(_ reply: Reply, of number: CallNumber) {
    switch reply {
    case .result(let value): settle(number, .success(value))
    case .failure(let error): settle(number, .failure(error))
    case .later: break
    }
  }

  /// A call has come to an end without a page or a task.
  func settle(_ number: CallNumber, _ uri: String, _ error: RPCError) {
    guard calls[number] != nil else { return }
    tellNowhere(uri, error)
    settle(number, .failure(error))
  }

  private func swiftCall(
    _ resolution: Resolution, _ options: CallOptions, _ number: CallNumber? = nil
  ) -> Call {
    swiftCall(resolution.uri, resolution.params, resolution.route, options, number)
  }
}
