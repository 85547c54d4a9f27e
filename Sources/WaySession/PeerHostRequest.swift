import WayRouting
import WayTransport
import WayValues

/// A request to a client whose session is another server's, for a call of a session here. What the
/// client answers, and its progress, come to that session as if the client were here.
///
/// Confined to the loop of who asks.
final class PeerHostRequest: CancellableRequest, @unchecked Sendable {
  /// A call that has no deadline of its own ends some day.
  private static let patience: Duration = .seconds(86_400)

  private let host: RemoteHost
  private let cluster: ClusterNode?
  private var task: Task<Void, Never>?

  init(to host: RemoteHost, _ cluster: ClusterNode?) {
    self.host = host
    self.cluster = cluster
  }

  /// Asks. `rights` are those of the call.
  func ask(
    _ method: String, _ params: Value, for number: CallNumber, by asker: Session, _ rights: Rights?
  ) {
    var question: ValueObject = [
      "ask": "run", "session": .string(host.session), "client": .string(host.client),
      "method": .string(method), "params": params,
    ]
    question["caller"] = rights?.caller.told(in: asker.id)
    task = Task { [question, host, cluster, weak asker] in
      let result: Result<Value, RequestFailure>
      do throws(CallError) {
        guard let cluster else { throw CallError(.hostAbsent, "The host is gone") }
        let told = try await cluster.ask(
          host.server, .object(question), within: Self.patience
        ) { [weak asker] value in
          guard let asker else { return }
          asker.loop.execute { asker.assumeIsolated { $0.report(value, of: number) } }
        }
        result = Result(told: told)
      } catch {
        result = .failure(.unanswered(error))
      }
      guard let asker else { return }
      asker.loop.execute { asker.assumeIsolated { $0.answered(.run(number), result) } }
    }
  }

  /// The other server waits for the client's answer, and counts it.
  func cancel(owing caller: Client?, on loop: any EventLoop) { task?.cancel() }
}

extension Result where Success == Value, Failure == RequestFailure {
  /// As another server tells it.
  var told: Value {
    switch self {
    case .success(let value): ["result": value]
    case .failure(.answered(let error)): ["answered": error.value]
    case .failure(.unanswered(let error)): ["unanswered": error.value]
    }
  }

  /// Reads what ``told`` gives.
  init(told value: Value) {
    if let error = value["answered"] {
      self = .failure(.answered(CallError(told: error)))
    } else if let error = value["unanswered"] {
      self = .failure(.unanswered(CallError(told: error)))
    } else {
      self = .success(value["result"] ?? .null)
    }
  }
}

extension Caller {
  /// As another server is told it.
  func told(in session: String) -> Value {
    var members = record.object ?? [:]
    members["session"] = .string(session)
    return .object(members)
  }

  /// Reads what ``told(in:)`` gives; nil for what it does not.
  static func told(_ value: Value?) -> Caller? {
    guard let value, let session = value["session"]?.string,
      let record = try? Record(value, "caller")
    else { return nil }
    return try? CallerReader(session: session, logger: nil).caller(record)
  }
}
