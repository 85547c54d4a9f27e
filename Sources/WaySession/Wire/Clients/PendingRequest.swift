import WayRPC
import WayTransport
import WayValues

/// The purpose of a request that was sent to a client; it decides how its response is handled.
enum RequestPurpose {
  /// Opens this page.
  case open(page: String)
  /// Reports that a page closes. Nothing depends on the response.
  case close
  /// Asks whether a page may close.
  case leave(question: Int)
  /// Runs this call's task, or the method of its page. The caller gets the response.
  case run(CallNumber)
  /// Belongs to this call of the app, which gets the response unchanged.
  case push(CallNumber)

  /// Whether the server itself sent the request, and not a call.
  var isServerInitiated: Bool {
    switch self {
    case .close, .leave: true
    case .open, .run, .push: false
    }
  }

  /// The call that receives progress.
  var call: CallNumber? {
    switch self {
    case .open, .close, .leave: nil
    case .run(let number), .push(let number): number
    }
  }
}

/// A request that was sent to a client. Belongs to the client's isolation.
final class PendingRequest {
  let method: String
  let purpose: RequestPurpose
  /// The sender of the request, if it may differ from the client's session.
  var requester: (any Requester)?
  /// Fires when the client has not responded in time.
  var timeout: (any ScheduledWork)?
  /// The caller for which the request still counts after its call has ended without a response.
  var slotHolder: SlotHolder?
  /// The rights of the call that the request serves, if that call is on another loop.
  var rights: Rights?
  /// The sequence number of the request; 0 if it was not sent yet, or has none.
  var sequenceNumber: UInt64 = 0
  /// The trace of the request; nil if there was no inspector when it was made.
  var trace: RequestTrace?

  init(_ method: String, for purpose: RequestPurpose, by requester: (any Requester)?) {
    self.method = method
    self.purpose = purpose
    self.requester = requester
  }

  /// A client that waits for a response which it does not need any more.
  struct SlotHolder: Sendable {
    let client: Client
    /// The client's loop, if it is another one.
    var loop: (any EventLoop)?

    func releaseSlot() {
      guard let loop else { return client.calls.releaseSlot() }
      loop.execute { client.calls.releaseSlot() }
    }
  }

  /// Finishes the request; no other response follows.
  func settle() {
    timeout?.cancel()
    slotHolder?.releaseSlot()
  }
}

/// A sender of requests to clients: a session, or the call of a session on another server.
protocol Requester: Actor {
  /// Receives the response to one of its requests, or the reason why there is none. `loop` is the
  /// current loop; `nil` if the caller is on none.
  nonisolated func receive(
    _ result: Result<Value, SessionClientRequestFailure>, for purpose: RequestPurpose,
    on loop: (any EventLoop)?)

  /// Receives the progress of one of its calls. `loop` is the current loop; `nil` if the caller is on
  /// none.
  nonisolated func receiveProgress(_ value: Value, of call: CallNumber, on loop: (any EventLoop)?)
}
