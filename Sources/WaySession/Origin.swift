import WayRPC
import WayValues

/// Where a request came from, and so where its answer goes. Belongs to the session's isolation.
struct Origin {
  let client: Client
  let id: RequestID
  let batch: BatchReply?
  /// The place in the batch.
  let position: Int
  let method: CallMeter.Method
  /// A notification: carried out, and never answered.
  var isSilent = false
}

/// What handling a request gives at once.
enum Reply {
  case result(Value)
  case failure(RPCError)
  /// The answer comes through the ``Call`` that was begun.
  case later
}
