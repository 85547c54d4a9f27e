/// Whom an event has reached in one session.
enum EventReach: Int64, Sendable {
  /// No client subscribes to its topic.
  case noSubscriber
  /// The subscribers have lost their connections; it waits for them.
  case absentSubscriber
  case subscriber
}
