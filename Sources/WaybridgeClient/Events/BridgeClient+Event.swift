import WayValues

extension BridgeClient {
  /// An event of a topic that this client has subscribed to.
  public struct Event: Sendable, Hashable {
    /// The topic, such as `page.opened`, or one of the app's own.
    public let topic: String
    /// The data of the topic, as PROTOCOL.md or the app defines it.
    public let data: Value
    /// The time of the event by the server's clock, in milliseconds since 1970-01-01 UTC.
    public let at: Int64

    /// Creates an event, for tests of code that reads events.
    public init(topic: String, data: Value = .null, at: Int64) {
      self.topic = topic
      self.data = data
      self.at = at
    }

    init?(_ params: Value?) {
      guard let params, let topic = params["topic"]?.string, let at = params["at"]?.integer
      else { return nil }
      self.init(topic: topic, data: params["data"] ?? .null, at: at)
    }
  }

  /// Events in order; releasing the stream ends the subscription.
  public typealias Events = AsyncThrowingStream<Event, any Error>
}
