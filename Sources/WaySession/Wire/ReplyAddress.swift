import WayRPC
import WayRouting

/// Where the answer to a request goes. Belongs to the session's isolation.
struct ReplyHandle {
  let client: Client
  let id: RequestID
  let batch: BatchReply?
  /// The place in the batch.
  let position: Int
  /// For the meter.
  let method: SessionCallMeter.Place
  /// A notification: carried out, and never answered.
  let isSilent: Bool
  /// Answered without a number, to a client that numbers all else.
  var isApart = false

  /// Who asks.
  var caller: Caller { client.rights.caller }
}
