/// An event that is on its way to the sessions of a loop.
struct PublishedEvent {
  /// Its number among the events that were published on the loop. A client that has subscribed
  /// later does not get it from there: it was sent the retained events.
  let number: UInt64
  let topic: String
  /// The `event` message.
  let message: [UInt8]
}
