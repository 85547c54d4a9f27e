import WayRouting
import WayTransport
import WayValues

/// A request to a client whose session is on another server, for a call of a session on this
/// server. The session of the call gets the response and the progress as if the client were on this
/// server.
///
/// Confined to the loop of the calling session.
final class PeerHostRequest: CancellableRequest, @unchecked Sendable {
  /// The maximum duration of a call that has no deadline of its own.
  private static let maxDuration: Duration = .seconds(86_400)

  private let host: RemoteHost
  private let cluster: ClusterNode?
  private var task: Task<Void, Never>?

  init(to host: RemoteHost, _ cluster: ClusterNode?) {
    self.host = host
    self.cluster = cluster
  }

  /// Sends the request. `rights` are those of the call.
  func send(
    _ method: String, _ params: Value, for number: CallNumber, by requester: Session,
    _ rights: Rights?
  ) {
    var message: ValueObject = [
      "ask": "run", "session": .string(host.session), "client": .string(host.client),
      "method": .string(method), "params": params,
    ]
    message["caller"] = rights?.caller.peerValue(in: requester.id)
    task = Task { [message, host, cluster, weak requester] in
      let result: Result<Value, SessionClientRequestFailure>
      do throws(CallError) {
        guard let cluster else { throw CallError(.hostAbsent, "The host is gone") }
        let response = try await cluster.request(
          host.server, .object(message), within: Self.maxDuration
        ) { [weak requester] value in
          guard let requester else { return }
          requester.loop.execute {
            requester.assumeIsolated { $0.reportProgress(value, of: number) }
          }
        }
        result = Result(peerValue: response)
      } catch {
        result = .failure(.noResponse(error))
      }
      guard let requester else { return }
      requester.loop.execute {
        requester.assumeIsolated { $0.handleResponse(.run(number), result) }
      }
    }
  }

  /// Cancels the request. The other server waits for the client's response, and counts it.
  func cancel(holdingSlotOf caller: Client?, on loop: any EventLoop) { task?.cancel() }
}

extension Result where Success == Value, Failure == SessionClientRequestFailure {
  /// The result in the form that another server gets.
  var peerValue: Value {
    switch self {
    case .success(let value): ["result": value]
    case .failure(.errorResponse(let error)): ["answered": error.value]
    case .failure(.noResponse(let error)): ["unanswered": error.value]
    }
  }

  /// Reads the form of ``peerValue``.
  init(peerValue value: Value) {
    if let error = value["answered"] {
      self = .failure(.errorResponse(CallError(peerValue: error)))
    } else if let error = value["unanswered"] {
      self = .failure(.noResponse(CallError(peerValue: error)))
    } else {
      self = .success(value["result"] ?? .null)
    }
  }
}

extension Caller {
  /// Returns the caller in the form that another server gets.
  func peerValue(in session: String) -> Value {
    var members = record.object ?? [:]
    members["session"] = .string(session)
    return .object(members)
  }

  /// Reads the form of ``peerValue(in:)``. Returns `nil` for any other value.
  static func fromPeerValue(_ value: Value?) -> Caller? {
    guard let value, let session = value["session"]?.string,
      let record = try? StoredRecord(value, "caller")
    else { return nil }
    return try? CallerReader(session: session, logger: nil).caller(record)
  }
}
