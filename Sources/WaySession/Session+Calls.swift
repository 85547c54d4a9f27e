import WayRPC
import WayRouting
import WayTransport
import WayValues

// The life of calls that do not end at once.
extension Session {
  /// Who asks: a request that has not become a call yet, or a call that goes on.
  enum Caller {
    case origin(Origin)
    case call(CallInFlight)
  }

  /// Makes the call of a request. Its answer takes the id out of those in flight.
  func begin(_ caller: Caller, deadline: Duration?) throws(RPCError) -> CallInFlight {
    let origin: Origin
    switch caller {
    case .call(let call): return call
    case .origin(let given): origin = given
    }
    let number = makeCallNumber()
    let client = origin.client
    let mark = mark(client)
    if origin.isSilent {
      try client.beginSilent(number, limit: settings.limits.maxInFlight)
    } else {
      try client.calls.begin(origin.id, number)
    }
    let call = CallInFlight(
      number: number, client: client.id,
      answer: { result in
        if origin.isSilent {
          client.endSilent(number)
        } else {
          _ = client.calls.end(origin.id)
        }
        self.reply(result, to: origin, mark)
      },
      progress: { value in
        guard !origin.isSilent else { return }
        self.notify(client, "$/progress", ["id": origin.id.value, "value": value])
      })
    calls[number] = call
    if let deadline { limit(call, to: deadline) }
    return call
  }

  func limit(_ call: CallInFlight, to time: Duration) {
    let number = call.number
    call.deadline = loop.schedule(after: time) { [weak self] in
      self?.assumeIsolated { $0.stop(number, .deadline) }
    }
  }

  /// Hands on what a task tells before its call is answered; what it tells later, nobody hears.
  func report(_ value: Value, of number: CallNumber) {
    calls[number]?.progress(value)
  }

  /// Gives a call its answer; one that has it already stays as it is.
  func settle(_ number: CallNumber, _ result: Result<Value, RPCError>) {
    calls.removeValue(forKey: number)?.settle(result)
  }

  /// Ends a call before its work is done. A call whose page is shown goes on until the page is closed.
  func stop(_ number: CallNumber, _ reason: StopReason) {
    guard let call = calls[number] else { return }
    // Taken, so that a second cancel does nothing.
    let stop = call.stop
    call.stop = nil
    if let page = call.page {
      if reason == .cancelled {
        stop?(reason)
        return
      }
      forget(number, openerOf: page)
      settle(number, .failure(reason.error))
      return
    }
    settle(number, .failure(reason.error))
    stop?(reason)
  }

  /// Runs Swift code for a call, and settles the call with what it gives.
  func run(
    _ call: CallInFlight, as entry: Entry, _ work: @escaping @Sendable () async throws -> Value
  ) -> Reply {
    let number = call.number
    let task = Task {
      let result: Result<Value, RPCError>
      do {
        result = .success(entry.answer(try await work()))
      } catch {
        result = .failure(.thrown(error))
      }
      settle(number, result)
    }
    call.stop = { _ in task.cancel() }
    return .later
  }

  /// Hands a call on to a client, whose answer, progress and failure are the call's.
  func forward(
    _ method: String, _ params: Value, to host: Client, _ entry: Entry, _ call: CallInFlight
  ) -> Reply {
    let number = call.number
    let id = request(
      host, method, params,
      progress: { self.report($0, of: number) },
      completion: { result in
        self.settle(number, result.map(entry.answer).mapError(\.ofTask))
      })
    if let id {
      call.stop = { _ in self.cancelRequest(id, host) }
    }
    return .later
  }
}
