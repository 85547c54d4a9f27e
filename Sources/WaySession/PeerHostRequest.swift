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
    _ method: String, _ params: Value, for number: CallNumber, of session: String,
    by requester: any Requester, _ rights: Rights?
  ) {
    var message: ValueObject = [
      "ask": "run", "session": .string(host.session), "client": .string(host.client),
      "method": .string(method), "params": params,
    ]
    ServedCaller(rights).add(to: &message, in: session)
    task = Task { [message, host, cluster, weak requester] in
      let result: Result<Value, SessionClientRequestFailure>
      do throws(CallError) {
        guard let cluster else { throw CallError(.hostAbsent, "The host is gone") }
        let response = try await cluster.request(
          host.server, .object(message), within: Self.maxDuration
        ) { [weak requester] value in
          requester?.receiveProgress(value, of: number, on: nil)
        }
        result = Result(peerValue: response)
      } catch {
        result = .failure(.noResponse(error))
      }
      requester?.receive(result, for: .run(number), on: nil)
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
    RecordCoder.value(of: CallerRecord(self, in: session))
  }

  /// Reads the form of ``peerValue(in:)``. Returns `nil` if there is no value. Fails with -32602 for
  /// any other value, which must not count as none: that stands for the app, which may do everything.
  static func fromPeerValue(_ value: Value?) throws(CallError) -> Caller? {
    guard let value else { return nil }
    do {
      let record = try RecordCoder.decode(CallerRecord.self, from: value, "caller")
      if let session = record.session { return record.caller(in: session, nil) }
    } catch {
      throw .invalidParams("The caller that the other server names cannot be read: \(error)")
    }
    throw .invalidParams("The caller that the other server names has no session")
  }
}

/// The caller whose call a host of another server serves, and for whom it may act (`onBehalfOf`).
enum ServedCaller {
  case app
  case client(Caller)
  /// A guest, or a caller for whom another host acts. Only its own server knows its limits, so that
  /// a host of another server cannot act for it.
  case limited

  /// The caller of a call with these rights; `nil` for the app.
  init(_ rights: Rights?) {
    guard let rights else {
      self = .app
      return
    }
    self = rights.isUndelegated ? .client(rights.caller) : .limited
  }

  /// Reads what ``add(to:in:)`` has added. Fails with -32602.
  init(peerRequest request: Value) throws(CallError) {
    if request["isLimited"] == true {
      self = .limited
    } else {
      self = try Caller.fromPeerValue(request["caller"]).map(ServedCaller.client) ?? .app
    }
  }

  /// Adds the caller, in a session, to a request to another server.
  func add(to request: inout ValueObject, in session: String) {
    switch self {
    case .app: break
    case .client(let caller): request["caller"] = caller.peerValue(in: session)
    case .limited: request["isLimited"] = true
    }
  }
}
