import WayNavigation
import WayRouting
import WayValues

// What a client does in sessions that are not its own.
extension SessionHub {
  nonisolated var sessionInfos: [SessionInfo] { assumeIsolated { $0.sessions(.all) } }

  /// Does it in each session, or for each client, and tells what came of each. Fails where it cannot
  /// be begun at all.
  func push(_ push: Push, by rights: Rights) async throws(CallError) -> [Value] {
    let audience = push.audience
    switch push.action {
    case .open(let uri, let style, let exts):
      let end = loop.nanoseconds &+ UInt64(push.deadline.milliseconds) * 1_000_000
      let opened = await open(
        uri, push.params, exts: exts, style: style, in: audience, timeout: push.deadline,
        by: rights)
      return await told(opened) { page in
        await self.outcome(of: page, until: end).map(\.value)
      }
    case .invoke(let uri, let exts):
      return await told(
        await invoke(
          uri, push.params, exts: exts, in: audience, timeout: push.deadline, by: rights)
      ) { .success($0) }
    case .deliver(let link):
      try deliver(link, to: audience, by: rights)
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
      try publish(topic, data, to: audience, retain: retain)
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
  private func outcome(
    of page: OpenedPage, until end: UInt64
  ) async -> Result<Outcome, CallError> {
    let ending = FirstAnswer<Outcome>()
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
