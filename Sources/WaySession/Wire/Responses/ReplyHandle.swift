import WayRPC
import WayRouting

/// The destination of the response to a request. Belongs to the session's isolation.
struct ReplyHandle {
  let client: Client
  let id: RequestID
  let batch: SessionBatchResponse?
  /// The position in the batch.
  let position: Int
  /// The method's index in the meter.
  let method: SessionCallMeter.MethodIndex
  /// Whether the request is a notification, which is performed but gets no response.
  let isNotification: Bool
  /// Whether the response has no number, although the client numbers all other messages.
  var isUnnumbered = false

  /// The caller that made the request.
  var caller: Caller { client.rights.caller }
}
