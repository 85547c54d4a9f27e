import WayValues

/// The interceptors that see one call, and the gates that it then has to pass, in order; one or the
/// other is there.
package final class InterceptorChain: Sendable {
  /// The decision of a chain about a call.
  package enum ChainDecision: Sendable {
    /// The call continues unchanged.
    case proceed
    /// The call continues with these parameters.
    case changed(params: ValueObject)
    /// The call continues, with these parameters if interceptors have changed them, as soon as it has
    /// passed these gates.
    case gates([Gate], params: ValueObject?)
    case redirect(to: String, params: ValueObject?, by: String)
    case refused(by: String, reason: String)
    /// The caller receives this error unchanged.
    case failed(CallError)
  }

  /// Runs a closure after a delay, and returns a closure that cancels it.
  package typealias TimeoutScheduler = (Duration, @escaping @Sendable () -> Void) -> (() -> Void)

  private let interceptors: [Interceptor]
  /// The gates in the order in which a call passes them.
  package let gates: [Gate]
  /// The bodies of the interceptors if none of them waits; separate, so that running them counts
  /// few references.
  private let immediateBodies: [@Sendable (Call) throws -> Interception]?

  /// Returns `nil` if neither an interceptor nor a gate has a scope that is selected. Both are in their
  /// order.
  init?(
    _ all: [Interceptor], _ allGates: [Gate],
    where isSelected: (Interceptor.InterceptorScope) -> Bool
  ) {
    let interceptors = all.filter { isSelected($0.scope) }
    gates = allGates.filter { $0.scopes.contains(where: isSelected) }
    guard !interceptors.isEmpty || !gates.isEmpty else { return nil }
    self.interceptors = interceptors
    let immediate = interceptors.compactMap {
      if case .immediate(let decide) = $0.body { decide } else { nil }
    }
    immediateBodies = immediate.count == interceptors.count ? immediate : nil
  }

  /// Returns a chain with further interceptors, each at the place of its priority, after those that have
  /// the same. `chain` is `nil` if there are no others, and `added` is not empty.
  package static func adding(_ added: [Interceptor], to chain: InterceptorChain?)
    -> InterceptorChain?
  {
    InterceptorChain(
      ((chain?.interceptors ?? []) + added).inOrder, chain?.gates ?? [], where: { _ in true })
  }

  /// The names in the order in which the interceptors see a call.
  package var names: [String] { interceptors.map(\.name) }

  /// Returns the decision about a call; `nil` if one of the interceptors waits.
  package func evaluate(_ call: Call) -> ChainDecision? {
    guard let immediateBodies else { return nil }
    for position in immediateBodies.indices {
      let decision: Interception
      do { decision = try immediateBodies[position](call) } catch {
        return interceptors[position].finalDecision(on: error)
      }
      if case .next = decision { continue }
      return evaluate(call, from: position, decision, immediateBodies)
    }
    return decision(changing: nil)
  }

  /// The decision about a call that no interceptor has stopped.
  private func decision(changing params: ValueObject?) -> ChainDecision {
    guard gates.isEmpty else { return .gates(gates, params: params) }
    return params.map { .changed(params: $0) } ?? .proceed
  }

  /// Continues after the first interceptor that did not return ``Interception/next``.
  private func evaluate(
    _ call: Call, from position: Int, _ first: Interception,
    _ decisions: [@Sendable (Call) throws -> Interception]
  ) -> ChainDecision {
    guard case .change(let params) = first else {
      return interceptors[position].finalDecision(first)
    }
    var call = call.with(params)
    for position in decisions.indices.dropFirst(position + 1) {
      let decision: Interception
      do { decision = try decisions[position](call) } catch {
        return interceptors[position].finalDecision(on: error)
      }
      switch decision {
      case .next: continue
      case .change(let params): call = call.with(params)
      default: return interceptors[position].finalDecision(decision)
      }
    }
    return decision(changing: call.params)
  }

  /// Runs the interceptors and waits for those that wait. If the task is cancelled, it returns at
  /// once, even while an interceptor runs.
  package func evaluate(
    _ call: Call, scheduler: TimeoutScheduler, isolation: isolated (any Actor)? = #isolation
  ) async -> ChainDecision {
    var changed: Call?
    for interceptor in interceptors {
      let decision: Interception
      do {
        switch interceptor.body {
        case .immediate(let decide): decision = try decide(changed ?? call)
        case .asynchronous(let decide, let timeout):
          decision = try await Self.decision(of: decide, changed ?? call, timeout, scheduler)
        }
      } catch {
        return interceptor.finalDecision(on: error)
      }
      switch decision {
      case .next: continue
      case .change(let params): changed = (changed ?? call).with(params)
      default: return interceptor.finalDecision(decision)
      }
    }
    return decision(changing: changed?.params)
  }

  private static func decision(
    of decide: @escaping @Sendable (Call) async throws -> Interception, _ call: Call,
    _ timeout: Duration, _ scheduler: TimeoutScheduler,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Interception {
    let result = FirstResult<Interception>()
    // The timeout starts before the interceptor, so that it does not depend on when the task is
    // scheduled.
    let cancelTimeout = scheduler(timeout) {
      result.complete(.failure(InterceptorTimeout(timeout: timeout)))
    }
    let task = Task {
      do { result.complete(.success(try await decide(call))) } catch {
        result.complete(.failure(error))
      }
    }
    defer {
      cancelTimeout()
      task.cancel()
    }
    return try await withTaskCancellationHandler {
      try await result.value().get()
    } onCancel: {
      result.complete(.failure(CancellationError()))
    }
  }
}

/// An interceptor has exceeded its timeout.
private struct InterceptorTimeout: Error {
  let timeout: Duration
}

extension [Interceptor] {
  /// The interceptors by falling priority, those of the same priority in their order.
  var inOrder: [Interceptor] {
    enumerated().sorted { left, right in
      left.element.priority != right.element.priority
        ? left.element.priority > right.element.priority : left.offset < right.offset
    }.map(\.element)
  }
}

extension Interceptor {
  /// Returns the chain's decision for a decision of this interceptor.
  fileprivate func finalDecision(_ decision: Interception) -> InterceptorChain.ChainDecision {
    switch decision {
    case .next: .proceed
    case .change(let params): .changed(params: params)
    case .redirect(let uri, let params): .redirect(to: uri, params: params, by: name)
    case .refuse(let reason): .refused(by: name, reason: reason)
    }
  }

  /// Returns the chain's decision for an error of this interceptor. It fails closed: no error lets
  /// a call pass.
  fileprivate func finalDecision(on error: any Error) -> InterceptorChain.ChainDecision {
    switch error {
    case let error as CallError where ErrorCode.isApplication(error.code): .failed(error)
    case let error as InterceptorTimeout:
      .refused(by: name, reason: "no answer within \(error.timeout)")
    case is CancellationError: .refused(by: name, reason: "it was cancelled")
    default: .refused(by: name, reason: "it failed: \("\(error)".brief)")
    }
  }
}
