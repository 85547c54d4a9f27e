import WayRouting
import WayValues

/// Bounds on what a peer chooses. `session.open` tells them to the client.
///
/// Counts and sizes are brought into the range from 1 to 2³⁰, times into that from a millisecond to a day.
public struct Limits: Sendable, Hashable {
  /// Bytes of one message; a larger one closes the connection with 1009.
  public var maxMessage = 1 << 20
  /// Bytes of one answer, a whole batch's together; a larger one becomes the error 2413.
  public var maxAnswer = 4 << 20
  /// Messages in one batch.
  public var maxBatch = 100
  /// Levels of lists and objects in one message.
  public var maxDepth = 128
  /// Calls of one client that wait for their answer.
  public var maxInFlight = 256
  /// Entries in the host declarations of one client, and patterns in one entry.
  public var maxHosts = 64
  /// Members of one session.
  public var maxClients = 64
  /// Topics that one client may be subscribed to.
  public var maxSubscriptions = 64
  /// Bytes of one topic, a `*` at its end included.
  public var maxTopic = 256
  /// Bytes that may wait to be sent to a client when an event is due; beyond, it is closed with 4201.
  public var maxBacklog = 1 << 20
  /// Links from outside that wait for somebody who can open them, in a session, and for sessions to come.
  public var maxLinks = 32
  /// Time to send `session.open` on a connection with the subprotocol `waybridge.v1`.
  public var hello: Duration = .seconds(5)
  /// Time for a host to answer `page.open`.
  public var pageOpen: Duration = .seconds(10)

  /// The limits as PROTOCOL.md has them.
  public init() {}

  /// The limits with every value in its range.
  var inRange: Limits {
    var limits = self
    let counts: [WritableKeyPath<Limits, Int>] = [
      \.maxMessage, \.maxAnswer, \.maxBatch, \.maxDepth, \.maxInFlight, \.maxHosts, \.maxClients,
      \.maxSubscriptions, \.maxTopic, \.maxBacklog, \.maxLinks,
    ]
    for count in counts { limits[keyPath: count] = min(max(self[keyPath: count], 1), 1 << 30) }
    let times: [WritableKeyPath<Limits, Duration>] = [\.hello, \.pageOpen]
    for time in times {
      limits[keyPath: time] = min(max(self[keyPath: time], .milliseconds(1)), .seconds(86_400))
    }
    return limits
  }

  /// The limits as `session.open` answers them; times in milliseconds.
  var value: Value {
    [
      "maxMessage": .integer(Int64(maxMessage)), "maxAnswer": .integer(Int64(maxAnswer)),
      "maxBatch": .integer(Int64(maxBatch)),
      "maxDepth": .integer(Int64(maxDepth)), "maxInFlight": .integer(Int64(maxInFlight)),
      "maxHosts": .integer(Int64(maxHosts)), "maxClients": .integer(Int64(maxClients)),
      "maxSubscriptions": .integer(Int64(maxSubscriptions)),
      "maxTopic": .integer(Int64(maxTopic)), "maxBacklog": .integer(Int64(maxBacklog)),
      "maxLinks": .integer(Int64(maxLinks)),
      "maxPages": .integer(Int64(NavigationStack.maxPages)),
      "helloMs": .integer(hello.milliseconds),
      "pageOpenMs": .integer(pageOpen.milliseconds),
    ]
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}
