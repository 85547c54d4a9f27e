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
    /// The id of the client that published the event; nil for events of the server and of the app.
    public let client: String?

    /// Creates an event, for tests of code that reads events.
    public init(topic: String, data: Value = .null, at: Int64, client: String? = nil) {
      self.topic = topic
      self.data = data
      self.at = at
      self.client = client
    }

    init?(_ params: Value?) {
      guard let params, let topic = params["topic"]?.string, let at = params["at"]?.integer
      else { return nil }
      self.init(
        topic: topic, data: params["data"] ?? .null, at: at, client: params["client"]?.string)
    }
  }

  /// The number of clients that a published event has reached.
  public struct PublishReceipt: Sendable, Hashable {
    /// The clients with a connection that subscribe to the topic, among them the publisher.
    public let delivered: Int
    /// The subscribed clients that have lost their connections. They get the event when they are
    /// back.
    public let waiting: Int

    /// Creates a receipt, for tests of code that reads receipts.
    public init(delivered: Int, waiting: Int) {
      self.delivered = delivered
      self.waiting = waiting
    }
  }

  /// Events in order; releasing the stream ends the subscription.
  public typealias Events = AsyncThrowingStream<Event, any Error>
}
