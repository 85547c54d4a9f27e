import WayRPC

/// What has not come in its time.
enum Alarm: Sendable {
  /// The end of a call.
  case call(CallNumber)
  /// The agreement of a page's host.
  case opening(page: String)
  /// A token anew, in the place of one that is about to end, or has.
  case expiry(ClientID)
  /// More that an acknowledgement tells.
  case ack(ClientID)
  /// That a client acknowledges what it was sent, where the session is kept.
  case look(ClientID)
  /// A client whose connection was lost.
  case absence(ClientID)
  /// A client's answer.
  case request(RequestID, ClientID)
}
