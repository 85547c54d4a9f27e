import WayRPC
import WayRouting
import WayValues

// Calls that Swift code makes in the session.
extension Session {
  /// Opens or invokes. Cancelling the Swift task cancels the call. Throws ``TaskError`` with the code of the protocol.
  func call(
    _ entry: Entry, _ uri: String, _ params: ValueObject, _ options: CallOptions,
    shown: ((String) -> Void)? = nil
  ) async throws -> Value {
    try Task.checkCancellation()
    return try await ask(deadline: options.deadline) { call throws(RPCError) in
      call.shown = shown
      do throws(RPCError) {
        var options = options
        options.given = params
        return try proceed(try look(up: uri, params), entry, options, .call(call))
      } catch {
        tellNowhere(uri, error)
        throw error
      }
    }.get()
  }

  /// Calls a method of a page, whoever answers for it. Past `timeout` it is 2408; nil waits.
  func callPage(
    _ page: String, _ method: String, _ params: ValueObject, timeout: Duration?
  ) async -> Result<Value, TaskError> {
    await ask(deadline: timeout) { call throws(RPCError) in
      callPage(try receiver(of: page), page, method, params, timeout, call)
    }
  }

  /// Calls a method of a client; past `timeout` it is 2504.
  func call(
    client name: String, _ method: String, _ params: ValueObject, timeout: Duration
  ) async -> Result<Value, TaskError> {
    await ask { call throws(RPCError) in
      guard let client = clients.values.first(where: { $0.name == name }) else {
        throw Self.absent(name)
      }
      let number = call.number
      let asked = request(
        client, method, .object(params), timeout: timeout,
        completion: { result in self.settle(number, result.mapError(\.ofCall)) })
      if let asked { call.stop = { _ in self.cancelRequest(asked, client) } }
      return .later
    }
  }

  /// Opens a page, or runs a task, and returns when it is shown, or done: as a client would, where one is named.
  func open(
    _ uri: String, _ params: ValueObject, _ given: CallOptions, as client: String?
  ) async -> Result<OpenedPage, TaskError> {
    var options = given
    if let client {
      guard let client = clients.values.first(where: { $0.name == client }) else {
        return .failure(Self.absent(client).taskError)
      }
      options.from = client.page
    }
    let asked = options
    let start = OpeningStart()
    let opening = Task {
      do {
        let value = try await call(
          .open, uri, params, asked,
          shown: { start.resolve(.success($0)) })
        start.resolve(.success(nil))
        return try Outcome(wire: value)
      } catch {
        start.resolve(.failure((error as? TaskError) ?? RPCError.thrown(error).taskError))
        throw error
      }
    }
    let page = await withTaskCancellationHandler {
      await start.value(on: self)
    } onCancel: {
      opening.cancel()
    }
    return page.map { OpenedPage(page: $0, opening: opening) }
  }

  /// As `navigation.back`.
  func back(
    _ target: BackRequest.Target, _ result: PageResult?
  ) async throws(TaskError) -> NavigationChange {
    try await navigate { call throws(RPCError) in
      back(BackRequest(target, result: result?.outcome), .invoke, call)
    }
  }

  /// As `navigation.finish`.
  func finish(_ page: String, _ result: PageResult?) async throws(TaskError) -> NavigationChange {
    try await navigate { call throws(RPCError) in
      change(.finish(page: page, result: result?.outcome ?? .finished()), .invoke, call)
      return .later
    }
  }

  /// As `navigation.selectTab`.
  func select(_ tab: TabRequest) async throws(TaskError) -> NavigationChange {
    try await navigate { call throws(RPCError) in try select(tab, .invoke, .call(call)) }
  }

  private func navigate(
    _ begin: (CallInFlight) throws(RPCError) -> Reply
  ) async throws(TaskError) -> NavigationChange {
    let answer = try await ask(begin).get()
    guard let change = NavigationChange(answer) else {
      throw TaskError(
        code: ErrorCode.internal.rawValue, message: "The stack answered without its change",
        data: answer)
    }
    return change
  }

  private static func absent(_ client: String) -> RPCError {
    RPCError(.hostAbsent, "The client \(client.quoted) is not in the session")
  }

  /// Makes a call that belongs to no client: `begin` starts its work. It is answered exactly once.
  private func ask(
    deadline: Duration? = nil,
    _ begin: (CallInFlight) throws(RPCError) -> Reply
  ) async -> Result<Value, TaskError> {
    let number = makeCallNumber()
    let result: Result<Value, RPCError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let call = CallInFlight(
          number: number, client: nil, answer: { continuation.resume(returning: $0) },
          progress: { _ in })
        start(call, deadline, begin)
      }
    } onCancel: {
      Task { await self.stop(number, .cancelled) }
    }
    return result.mapError(\.taskError)
  }

  private func start(
    _ call: CallInFlight, _ deadline: Duration?, _ begin: (CallInFlight) throws(RPCError) -> Reply
  ) {
    let number = call.number
    calls[number] = call
    guard !hasEnded else {
      return settle(
        number, .failure(RPCError(.cancelledByServer, "The session of the call has ended")))
    }
    if let deadline { limit(call, to: deadline) }
    do throws(RPCError) {
      switch try begin(call) {
      case .result(let value): settle(number, .success(value))
      case .failure(let error): settle(number, .failure(error))
      case .later: break
      }
    } catch {
      settle(number, .failure(error))
    }
  }

  func canOpen(_ uri: String) -> Bool {
    (try? resolve(uri, [:], checking: false))?.isServed ?? false
  }
}

/// Waits for the page of an opening to be shown. Belongs to its session's isolation.
private final class OpeningStart {
  typealias Result = Swift.Result<String?, TaskError>
  private var result: Result?
  private var waiting: CheckedContinuation<Result, Never>?

  /// The first result counts.
  func resolve(_ result: Result) {
    guard self.result == nil else { return }
    self.result = result
    waiting?.resume(returning: result)
    waiting = nil
  }

  // Not `#isolation`, which is nil in a closure that does not use the actor.
  func value(on session: isolated Session) async -> Result {
    if let result { return result }
    return await withCheckedContinuation { waiting = $0 }
  }
}
