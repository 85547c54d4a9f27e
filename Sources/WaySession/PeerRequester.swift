import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Sends a request to a client of this server for a call of a session on another server, and
/// receives its progress and response. Confined to the loop of the client's session.
actor PeerRequester: Requester {
  private nonisolated let executor: UnownedSerialExecutor
  private let progress: @Sendable (Value) -> Void
  private let response = FirstResult<Value>()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  init(_ loop: any EventLoop, _ progress: @escaping @Sendable (Value) -> Void) {
    executor = loop.asUnownedSerialExecutor()
    self.progress = progress
  }

  nonisolated func receive(
    _ result: Result<Value, SessionClientRequestFailure>, for purpose: RequestPurpose,
    on loop: (any EventLoop)?
  ) {
    complete(result)
  }

  nonisolated func receiveProgress(_ value: Value, of call: CallNumber, on loop: (any EventLoop)?) {
    progress(value)
  }

  fileprivate nonisolated func complete(_ result: Result<Value, SessionClientRequestFailure>) {
    response.complete(.success(result.peerValue))
  }

  /// Sends the request and returns its result in the form of `Result.peerValue`. If the task is
  /// cancelled, the client's request is cancelled too, and the result is not awaited.
  static func request(
    _ name: String, in session: Session, _ method: String, _ params: Value,
    _ caller: PeerCaller,
    _ progress: @escaping @Sendable (Value) -> Void
  ) async -> Value {
    let requester = PeerRequester(session.loop, progress)
    let sentRequest = await session.request(name, method, params, caller, by: requester)
    let result = await withTaskCancellationHandler {
      await requester.response.value()
    } onCancel: {
      guard let sentRequest else { return }
      session.loop.execute {
        session.assumeIsolated { $0.clientWriter.cancelRequest(sentRequest.id, sentRequest.client) }
      }
      requester.response.complete(.success(.null))
    }
    return (try? result.get()) ?? .null
  }
}

extension Session {
  fileprivate func request(
    _ name: String, _ method: String, _ params: Value, _ caller: PeerCaller,
    by requester: PeerRequester
  ) -> (id: RequestID, client: Client)? {
    guard let client = clients.named(name), !state.isReleased else {
      requester.complete(.failure(.noResponse(CallError(.hostAbsent, "The host is gone"))))
      return nil
    }
    do throws(SessionClientRequestFailure) {
      let id = try clientWriter.request(client, method, params, for: .run(0), by: requester)
      client.pending[id]?.rights = rights(of: caller)
      // The call belongs to another server, which numbers its own calls.
      events.traceRequest(id, params, to: client, for: nil)
      return (id, client)
    } catch {
      requester.complete(.failure(error))
      return nil
    }
  }
}
