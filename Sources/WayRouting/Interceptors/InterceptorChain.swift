import WayValues

/// The interceptors that see one call, in their order; never empty.
package final class InterceptorChain: Sendable {
  /// What they make of a call together.
  package enum Verdict: Sendable {
    /// It goes on as it came.
    case pass
    /// It goes on with these parameters.
    case changed(params: ValueObject)
    case redirect(to: String, params: ValueObject?, by: String)
    case refused(by: String, reason: String)
    /// An error for the caller as it is.
    case failed(CallError)
  }

  /// Runs a closure after a time; what is given back takes it back.
  package typealias Alarm = (Duration, @escaping @Sendable () -> Void) -> (() -> Void)

  private let interceptors: [Interceptor]
  /// Theirs, where none of them waits; apart, so that asking them counts few references.
  private let decisions: [@Sendable (Call) throws -> Interception]?

  /// Nil for none. They are in their order.
  init?(_ interceptors: [Interceptor]) {
    guard !interceptors.isEmpty else { return nil }
    self.interceptors = interceptors
    let immediate = interceptors.compactMap {
      if case .now(let decide) = $0.action { decide } else { nil }
    }
    decisions = immediate.count == interceptors.count ? immediate : nil
  }

  /// In the order in which they see a call.
  package var names: [String] { interceptors.map(\.name) }

  /// What they make of a call, where none of them waits; nil where one does.
  package func judge(_ call: Call) -> Verdict? {
    guard let decisions else { return nil }
    for position in decisions.indices {
      let decision: Interception
      do { decision = try decisions[position](call) } catch {
        return interceptors[position].verdict(on: error)
      }
      if case .next = decision { continue }
      return judge(call, from: position, decision, decisions)
    }
    return .pass
  }

  /// Goes on behind the first that has not let the call pass as it is.
  private func judge(
    _ call: Call, from position: Int, _ first: Interception,
    _ decisions: [@Sendable (Call) throws -> Interception]
  ) -> Verdict {
    guard case .change(let params) = first else { return interceptors[position].verdict(first) }
    var call = call.with(params)
    for position in decisions.indices.dropFirst(position + 1) {
      let decision: Interception
      do { decision = try decisions[position](call) } catch {
        return interceptors[position].verdict(on: error)
      }
      switch decision {
      case .next: continue
      case .change(let params): call = call.with(params)
      default: return interceptors[position].verdict(decision)
      }
    }
    return .changed(params: call.params)
  }

  /// Asks them, and waits for those that do. When the task is cancelled it ends at once, whatever
  /// they do.
  package func judge(
    _ call: Call, alarm: Alarm, isolation: isolated (any Actor)? = #isolation
  ) async -> Verdict {
    var changed: Call?
    for interceptor in interceptors {
      let decision: Interception
      do {
        switch interceptor.action {
        case .now(let decide): decision = try decide(changed ?? call)
        case .later(let decide, let deadline):
          decision = try await Self.decision(of: decide, changed ?? call, deadline, alarm)
        }
      } catch {
        return interceptor.verdict(on: error)
      }
      switch decision {
      case .next: continue
      case .change(let params): changed = (changed ?? call).with(params)
      default: return interceptor.verdict(decision)
      }
    }
    return changed.map { .changed(params: $0.params) } ?? .pass
  }

  private static func decision(
    of decide: @escaping @Sendable (Call) async throws -> Interception, _ call: Call,
    _ deadline: Duration, _ alarm: Alarm, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Interception {
    let answer = FirstResult<Interception>()
    // Before the interceptor begins, so that its time does not depend on when this gets its turn.
    let stopAlarm = alarm(deadline) { answer.give(.failure(Overdue(deadline: deadline))) }
    let task = Task {
      do { answer.give(.success(try await decide(call))) } catch { answer.give(.failure(error)) }
    }
    defer {
      stopAlarm()
      task.cancel()
    }
    return try await withTaskCancellationHandler {
      try await answer.value().get()
    } onCancel: {
      answer.give(.failure(CancellationError()))
    }
  }
}

/// An interceptor has not answered in its time.
private struct Overdue: Error {
  let deadline: Duration
}

extension Interceptor {
  /// A decision that ends the chain.
  fileprivate func verdict(_ decision: Interception) -> InterceptorChain.Verdict {
    switch decision {
    case .next: .pass
    case .change(let params): .changed(params: params)
    case .redirect(let uri, let params): .redirect(to: uri, params: params, by: name)
    case .refuse(let reason): .refused(by: name, reason: reason)
    }
  }

  /// Fails closed: no error lets a call pass.
  fileprivate func verdict(on error: any Error) -> InterceptorChain.Verdict {
    switch error {
    case let error as CallError where ErrorCode.isApplication(error.code): .failed(error)
    case let error as Overdue: .refused(by: name, reason: "no answer within \(error.deadline)")
    case is CancellationError: .refused(by: name, reason: "it was cancelled")
    default: .refused(by: name, reason: "it failed: \("\(error)".brief)")
    }
  }
}
