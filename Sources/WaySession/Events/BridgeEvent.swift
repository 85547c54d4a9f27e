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
