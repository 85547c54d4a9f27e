import WayValues

/// An event of the bridge itself, or one that the app or a client published.
public struct BridgeEvent: Sendable, Hashable {
  /// The topic: one of PROTOCOL.md, such as `page.opened`, or one of the app.
  public let topic: String
  /// The data, as PROTOCOL.md or the app specifies it for the topic.
  public let data: Value
  /// The time of the event by the server's clock, in milliseconds since 1970-01-01 UTC.
  public let at: Int64
  /// The id of the session of the client that published the event; `nil` for other events.
  public let session: String?
  /// The id of the client that published the event; `nil` for other events.
  public let client: String?

  /// Creates an event, for tests of its readers.
  public init(
    topic: String, data: Value = .null, at: Int64, session: String? = nil, client: String? = nil
  ) {
    self.topic = topic
    self.data = data
    self.at = at
    self.session = session
    self.client = client
  }

  /// The params of the notification `event`.
  var value: Value {
    var members: ValueObject = ["topic": .string(topic), "data": data, "at": .integer(at)]
    if client != nil { members["client"] = client.map(Value.string) }
    return .object(members)
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

/// The number of clients that an event of another client of their session has reached.
struct EventReceipt {
  /// The subscribers with a connection.
  var delivered = 0
  /// The subscribers that have lost their connections; they get the event when they are back.
  var waiting = 0

  /// The result of `events.publish`.
  var value: Value {
    ["delivered": .integer(Int64(delivered)), "waiting": .integer(Int64(waiting))]
  }
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
