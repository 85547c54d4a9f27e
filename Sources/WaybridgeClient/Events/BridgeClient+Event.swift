import WayValues

extension BridgeClient {
  /// Something that happened, told to those who subscribed to its topic.
  public struct Event: Sendable, Hashable {
    /// Such as `page.opened`, or one of the app's own.
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

    init?(_ params: Value?) {
      guard let params, let topic = params["topic"]?.string, let at = params["at"]?.integer
      else { return nil }
      self.init(topic: topic, data: params["data"] ?? .null, at: at)
    }
  }

  /// Events in their order; a subscription that ends when it is let go of.
  public typealias Events = AsyncThrowingStream<Event, any Error>
}
