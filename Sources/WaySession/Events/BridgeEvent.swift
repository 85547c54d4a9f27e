import WayValues

/// Something that happened: of the bridge itself, or published by the app.
public struct BridgeEvent: Sendable, Hashable {
  /// What it is about: one of PROTOCOL.md's, such as `page.opened`, or one of the app's own.
  public let topic: String
  /// What PROTOCOL.md, or the app, says of the topic.
  public let data: Value
  /// When it happened by the server's clock: milliseconds since 1970-01-01 UTC.
  public let at: Int64

  /// An event, for tests of what reads them.
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
