import WayValues

/// An event of the bridge itself, or one that the app published.
public struct BridgeEvent: Sendable, Hashable {
  /// The topic: one of PROTOCOL.md, such as `page.opened`, or one of the app.
  public let topic: String
  /// The data, as PROTOCOL.md or the app specifies it for the topic.
  public let data: Value
  /// The time of the event by the server's clock, in milliseconds since 1970-01-01 UTC.
  public let at: Int64

  /// Creates an event, for tests of its readers.
  public init(topic: String, data: Value = .null, at: Int64) {
    self.topic = topic
    self.data = data
    self.at = at
  }

  /// The params of the notification `event`.
  var value: Value {
    ["topic": .string(topic), "data": data, "at": .integer(at)]
  }
}

/// Whom an event has reached in one session.
enum EventReach: Int64, Sendable {
  /// No client subscribes to its topic.
  case noSubscriber
  /// The subscribers have lost their connections; it waits for them.
  case absentSubscriber
  case subscriber
}

/// An event that is on its way to the sessions of a loop.
struct PublishedEvent {
  /// Its number among the events that were published on the loop. A client that has subscribed
  /// later does not get it from there: it was sent the retained events.
  let number: UInt64
  let topic: String
  /// The `event` message.
  let message: [UInt8]
}
