import WayRPC
import WayRouting
import WayTransport
import WayValues

/// A request to a client whose session is on another loop, for a call of a session on this loop.
/// The session of the call gets the response and the progress as if the client were on this loop.
///
/// `requestID` is confined to the loop of `hostSession`.
final class LoopHostRequest: CancellableRequest, @unchecked Sendable {
  private let client: Client
  private let hostSession: Session
  /// The id of the request; `nil` before it is sent, or if it could not be sent.
  private var requestID: RequestID?

  init(to client: Client, of hostSession: Session) {
    self.client = client
    self.hostSession = hostSession
  }

  /// Sends the request. `rights` are those of the call.
  func send(
    _ method: String, _ params: Value, for purpose: RequestPurpose, by requester: Session,
    _ rights: Rights?
  ) {
    let rights = rights?.followingCopy
    hostSession.perform(on: requester.loop) { [self] session in
      guard session.clients[client.id] === client else {
        let error = CallError(.hostAbsent, "The host is gone")
        return requester.receive(.failure(.noResponse(error)), for: purpose, on: session.loop)
      }
      do throws(SessionClientRequestFailure) {
        let id = try session.clientWriter.request(
          client, method, params, for: purpose, by: requester)
        client.pending[id]?.rights = rights?.transferred(to: session.environment.policy)
        // The call belongs to another session, which numbers its own calls.
        session.events.traceRequest(id, params, to: client, for: nil)
        self.requestID = id
      } catch {
        requester.receive(.failure(error), for: purpose, on: session.loop)
      }
    }
  }

  func cancel(holdingSlotOf caller: Client?, on loop: any EventLoop) {
    caller?.calls.retainSlot()
    let slotHolder = caller.map { PendingRequest.SlotHolder(client: $0, loop: loop) }
    hostSession.loop.execute { [self] in
      hostSession.assumeIsolated { session in
        guard let requestID, let request = client.pending[requestID] else {
          slotHolder?.releaseSlot()
          return
        }
        request.slotHolder = slotHolder
        request.rights = nil
        session.clientWriter.cancelRequest(requestID, client)
      }
    }
  }
}

/// A request to a client whose session is on another server, for a call of a session on this
/// server. The session of the call gets the response and the progress as if the client were on this
/// server.
///
/// Confined to the loop of the calling session.
final class PeerHostRequest: CancellableRequest, @unchecked Sendable {
  private let host: RemoteHost
  private let operations: any SessionOperations
  private var task: Task<Void, Never>?

  init(to host: RemoteHost, _ operations: any SessionOperations) {
    self.host = host
    self.operations = operations
  }

  /// Sends the request. `rights` are those of the call.
  func send(
    _ method: String, _ params: Value, for number: CallNumber, of session: String,
    by requester: any Requester, _ rights: Rights?
  ) {
    let caller = PeerCaller(rights, in: session)
    task = Task { [host, operations, weak requester] in
      let result: Result<Value, SessionClientRequestFailure>
      do throws(CallError) {
        result = try await operations.request(
          method, params, at: host, for: caller, of: session
        ) {
          [weak requester] value in
          requester?.receiveProgress(value, of: number, on: nil)
        }
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
