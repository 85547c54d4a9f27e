import WayNavigation
import WayRouting
import WayTransport
import WayValues

// What the app's side does in the sessions of this server that it did not hear from.
extension SessionServer {
  /// Opens a page, or runs a task, in each session of an audience; returns when each is shown, done
  /// or refused.
  func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, carrying: [String: any Sendable] = [:], by rights: Rights? = nil
  ) async -> [Delivery<OpenedPage>] {
    let carried = Carried(carrying)
    return await gather(audience) { hub in
      await hub.open(
        uri, params, exts: exts, style: style, in: audience, timeout: timeout, carried,
        by: rights?.handed(to: hub.policy))
    }
  }

  /// Runs a task or a service in each session of an audience.
  func invoke(
    _ uri: String, _ params: ValueObject, exts: ValueObject, in audience: Audience,
    timeout: Duration, by rights: Rights?
  ) async -> [Delivery<Value>] {
    await gather(audience) { hub in
      await hub.invoke(
        uri, params, exts: exts, in: audience, timeout: timeout,
        by: rights?.handed(to: hub.policy))
    }
  }

  /// Calls a method of every client of an audience.
  func call(
    _ method: String, _ params: ValueObject, of audience: Audience, timeout: Duration,
    by rights: Rights? = nil
  ) async throws(CallError) -> [Delivery<Value>] {
    guard !MethodTable.reserves(method) else {
      throw .invalidParams(
        "The method \(method.quoted) is the protocol's own: agree on another name with the clients")
    }
    return await gather(audience) { hub in
      await hub.call(
        method, params, of: audience, timeout: timeout, by: rights?.handed(to: hub.policy))
    }
  }

  /// Calls a method of one page, whoever answers for it.
  func call(
    page: String, in session: String, _ method: String, _ params: ValueObject, timeout: Duration,
    by rights: Rights? = nil
  ) async throws(CallError) -> Value {
    let hub = try hub(ofLive: session)
    return try await hub.call(
      page: page, in: session, method, params, timeout: timeout,
      by: rights?.handed(to: hub.policy))
  }

  /// The sessions of an audience as they are now.
  func sessions(_ audience: Audience) async -> [SessionInfo] {
    await gather(audience) { await $0.sessions(audience) }
  }

  /// Puts a session into a group. Fails with 2404 where there is no such session.
  func add(session: String, toGroup group: String) async throws(CallError) {
    try await hub(ofLive: session).add(session: session, toGroup: group)
  }

  /// Takes a session out of a group; nothing happens when it is not in it. Fails with 2404 where
  /// there is no such session.
  func remove(session: String, fromGroup group: String) async throws(CallError) {
    try await hub(ofLive: session).remove(session: session, fromGroup: group)
  }

  private func hub(ofLive session: String) throws(CallError) -> LoopSessions {
    guard let hub = hub(ofSession: session) else { throw LoopSessions.absent(session) }
    return hub
  }

  /// Hands a link to every session of an audience that has hosts or can serve it; true where there is
  /// one.
  func deliver(
    _ link: DeepLink, to audience: Audience, by rights: Rights?
  ) async throws(CallError) -> Bool {
    let results = await gather(audience) { hub -> [Result<Void, CallError>] in
      await hub.deliver(link, to: audience, by: rights?.handed(to: hub.policy))
    }
    for result in results { try result.get() }
    return !results.isEmpty
  }

  /// Keeps a link for the next session of its audience that can follow it. Fails with 2429 when too
  /// many wait.
  func keep(_ link: DeepLink, for audience: Audience, by rights: Rights?) async throws(CallError) {
    try links.withLock { (links) throws(CallError) in
      try links.add(link, for: audience, by: rights)
    }
    // One may have come in the meantime.
    for hub in hubs(for: audience) { await hub.offerLinks() }
  }
}

// What a client does in sessions that are not its own.
extension SessionServer {
  /// Does it in each session of this server, or for each client, and tells what came of each. Fails
  /// where it cannot be begun at all. `loop` is that of who asks, whose clock counts; `rights` are
  /// nil for the app.
  func push(
    _ push: Push, by rights: Rights?, on loop: any EventLoop
  ) async throws(CallError) -> [Value] {
    let audience = push.audience
    switch push.action {
    case .open(let uri, let style, let exts):
      let end = loop.nanoseconds &+ UInt64(push.deadline.milliseconds) * 1_000_000
      let opened = await open(
        uri, push.params, exts: exts, style: style, in: audience, timeout: push.deadline,
        by: rights)
      return await told(opened) { page in
        await Self.outcome(of: page, until: end, on: loop).map(\.value)
      }
    case .invoke(let uri, let exts):
      return await told(
        await invoke(
          uri, push.params, exts: exts, in: audience, timeout: push.deadline, by: rights)
      ) { .success($0) }
    case .deliver(let link):
      _ = try await deliver(link, to: audience, by: rights)
      return []
    case .pageCall(let page, let method):
      guard case .session(let id) = audience else { return [] }
      let result: Result<Value, CallError>
      do throws(CallError) {
        result = .success(
          try await call(
            page: page, in: id, method, push.params, timeout: push.deadline, by: rights))
      } catch {
        result = .failure(error)
      }
      return await told([Delivery(session: id, result: result)]) { .success($0) }
    case .event(let topic, let data, let retain):
      try await publish(topic, data, to: audience, retain: retain)
      return []
    case .client(let method):
      let called = try await call(
        method, push.params, of: audience, timeout: push.deadline, by: rights)
      return await told(called) { .success($0) }
    }
  }

  /// What came of each, as the wire tells it, in the order of the sessions.
  private func told<Success: Sendable>(
    _ deliveries: [Delivery<Success>],
    _ value: @escaping @Sendable (Success) async -> Result<Value, CallError>
  ) async -> [Value] {
    await withTaskGroup(of: Value.self) { group in
      for delivery in deliveries {
        group.addTask {
          var members: ValueObject = ["session": .string(delivery.session)]
          members["client"] = delivery.client.map(Value.string)
          let result: Result<Value, CallError>
          switch delivery.result {
          case .success(let success): result = await value(success)
          case .failure(let error): result = .failure(error)
          }
          switch result {
          case .success(let value): members["result"] = value
          case .failure(let error): members["error"] = error.value
          }
          return .object(members)
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// How a page ends, if it does in time: it stays open otherwise, and the error 2408 names it.
  private static func outcome(
    of page: OpenedPage, until end: UInt64, on loop: any EventLoop
  ) async -> Result<Outcome, CallError> {
    let ending = FirstResult<Outcome>()
    let task = Task {
      do { ending.give(.success(try await page.outcome())) } catch {
        ending.give(.failure(error))
      }
    }
    defer { task.cancel() }
    let now = loop.nanoseconds
    let left: Duration = now < end ? .nanoseconds(Int64(clamping: end - now)) : .zero
    let alarm = loop.schedule(after: left) {
      ending.give(
        .failure(
          CallError(
            .deadline, "The page has not ended within the deadline; it stays open",
            data: ["page": page.page.map(Value.string) ?? .null])))
    }
    defer { alarm.cancel() }
    return await ending.value().mapError { error in
      (error as? CallError) ?? CallError(.cancelledByServer, "The opening was given up")
    }
  }
}
