import WayRPC

/// Operations that have a deadline.
enum SessionDeadline: Sendable {
  /// A call, which has to end.
  case call(CallNumber)
  /// A page's host, which has to accept the page.
  case opening(page: String)
  /// The Swift code of a page, which has to decide whether the page closes.
  case leaving(question: Int)
  /// A client, which has to renew a token that is about to expire or has expired.
  case expiry(ClientID)
  /// An acknowledgement, which waits for further messages to cover.
  case acknowledgement(ClientID)
  /// A client of a durable session, which has to acknowledge messages before they are persisted.
  case outboxPersistence(ClientID)
  /// A disconnected client, which has to resume.
  case resume(ClientID)
  /// A client, which has to respond to a request.
  case request(RequestID, ClientID)
}
