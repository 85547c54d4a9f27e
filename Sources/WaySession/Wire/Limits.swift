import WayNavigation
import WayRouting
import WayValues

/// Bounds on what a peer chooses. `session.open` tells a client those that concern it.
///
/// Counts and sizes are brought into the range from 1 to 2³⁰, times into that from a millisecond to
/// a day.
public struct Limits: Sendable, Hashable {
  /// Bytes of one message; a larger one closes the connection with 1009.
  public var maxMessage = 1 << 20
  /// Bytes of one answer, a whole batch's together; a larger one becomes the error 2413.
  public var maxAnswer = 4 << 20
  /// Messages in one batch.
  public var maxBatch = 100
  /// Levels of lists and objects in one message.
  public var maxDepth = 128
  /// Values in one message, about: lists, objects, their members' names and all else. They cost
  /// more than their bytes do. More are the error 2413.
  public var maxValues = 32_768
  /// Calls of one client that wait for their answer.
  public var maxInFlight = 256
  /// Entries in the host declarations of one client, and patterns in one entry.
  public var maxHosts = 64
  /// Patterns in the host declarations of one session; one with optional groups counts as often as
  /// there are ways to read it.
  public var maxPatterns = 4096
  /// Members of one session.
  public var maxClients = 64
  /// Topics that one client may be subscribed to.
  public var maxSubscriptions = 64
  /// Bytes of one topic, a `*` at its end included.
  public var maxTopic = 256
  /// Bytes that may wait to be sent to a client when an event is due; beyond, it is closed with
  /// 4201.
  public var maxBacklog = 1 << 20
  /// Links from outside that wait for somebody who can open them, in a session, and for sessions to
  /// come.
  public var maxLinks = 32
  /// Bytes of the `exts` of a call, about: they reach the host of each page that it closes. More is
  /// the error 2413.
  public var maxExts = 16 << 10
  /// Bytes that a session keeps of the pages on its stack and of those that wait to be opened:
  /// their URIs, parameters and `exts`, about. A page beyond is the error 2413.
  public var maxStackBytes = 4 << 20
  /// Bytes that wait to be sent to one client; beyond, its connection is closed with 4201. At least
  /// `maxAnswer`.
  public var maxQueueBytes = 8 << 20
  /// Bytes that are kept for one client, about: the params and ids of its calls that are not done,
  /// its patterns, its links, and what waits to be sent to it. Beyond, a call is the error 2429, and
  /// a queue closes the connection with 4201. At least `maxQueueBytes`.
  public var maxClientBytes = 16 << 20
  /// Bytes that are kept for all clients of one session, and its pages.
  public var maxSessionBytes = 64 << 20
  /// Bytes that are kept for all sessions, and as many that wait to be sent to all clients.
  public var maxServerBytes = 256 << 20
  /// Bytes of what one client was sent and has not acknowledged, or that waits while it has no
  /// connection; a single message of any size is kept. Beyond, its connection is closed with 4201,
  /// and one that has none cannot resume any more.
  public var maxOutbox = 1 << 20
  /// Messages of that.
  public var maxOutboxMessages = 1024
  /// Bytes of that for the clients of all sessions; beyond, the clients without a connection for
  /// whom most is kept cannot resume any more.
  public var maxOutboxBytes = 256 << 20
  /// Results of calls with a key that one session keeps, and as many such calls under way.
  public var maxKeys = 256
  /// Time in which a client may resume whose connection was lost.
  public var resume: Duration = .seconds(120)
  /// Calls a second of one client, over time; beyond, they are the error 2429 with
  /// `data.retryAfterMs`. 0 for any number.
  public var maxRate = 1000
  /// Calls that one client may make at once after it made none.
  public var maxBurst = 2000
  /// Sessions of the bridge; beyond, `session.open` is the error 2503, and the connection is closed
  /// with 4100.
  public var maxSessions = 10_000
  /// Connections of any kind; beyond, the handshake is answered with HTTP 503.
  public var maxConnections = 10_000
  /// A client that was silent for so long is sent a WebSocket ping.
  public var ping: Duration = .seconds(20)
  /// A client that was silent for so long, pongs included, is closed with 4202. More than `ping`.
  public var silence: Duration = .seconds(35)
  /// Time to send `session.open` on a connection with the subprotocol `waybridge.v1`.
  public var hello: Duration = .seconds(5)
  /// Time for a host to answer `page.open`.
  public var pageOpen: Duration = .seconds(10)

  /// The limits as PROTOCOL.md has them.
  public init() {}

  /// The limits with every value in its range.
  package var inRange: Limits {
    var limits = self
    let counts: [WritableKeyPath<Limits, Int>] = [
      \.maxMessage, \.maxAnswer, \.maxBatch, \.maxDepth, \.maxValues, \.maxInFlight, \.maxHosts,
      \.maxPatterns,
      \.maxClients,
      \.maxSubscriptions, \.maxTopic, \.maxBacklog, \.maxLinks, \.maxExts, \.maxStackBytes,
      \.maxQueueBytes,
      \.maxClientBytes, \.maxSessionBytes, \.maxServerBytes, \.maxBurst, \.maxSessions,
      \.maxOutbox, \.maxOutboxMessages, \.maxOutboxBytes, \.maxKeys,
      \.maxConnections,
    ]
    for count in counts { limits[keyPath: count] = min(max(self[keyPath: count], 1), 1 << 30) }
    let times: [WritableKeyPath<Limits, Duration>] = [
      \.hello, \.pageOpen, \.ping, \.silence, \.resume,
    ]
    for time in times {
      limits[keyPath: time] = min(max(self[keyPath: time], .milliseconds(1)), .seconds(86_400))
    }
    limits.maxRate = min(max(maxRate, 0), 1_000_000_000)
    limits.maxQueueBytes = max(limits.maxQueueBytes, limits.maxAnswer)
    limits.maxClientBytes = max(limits.maxClientBytes, limits.maxQueueBytes)
    limits.silence = max(limits.silence, limits.ping + .milliseconds(1))
    return limits
  }

  /// The limits as `session.open` answers them; times in milliseconds.
  var value: Value {
    [
      "maxMessage": .integer(Int64(maxMessage)), "maxAnswer": .integer(Int64(maxAnswer)),
      "maxBatch": .integer(Int64(maxBatch)),
      "maxDepth": .integer(Int64(maxDepth)), "maxValues": .integer(Int64(maxValues)),
      "maxInFlight": .integer(Int64(maxInFlight)),
      "maxHosts": .integer(Int64(maxHosts)), "maxPatterns": .integer(Int64(maxPatterns)),
      "maxClients": .integer(Int64(maxClients)),
      "maxSubscriptions": .integer(Int64(maxSubscriptions)),
      "maxTopic": .integer(Int64(maxTopic)), "maxBacklog": .integer(Int64(maxBacklog)),
      "maxLinks": .integer(Int64(maxLinks)),
      "maxPages": .integer(Int64(NavigationStack.maxPages)),
      "maxExts": .integer(Int64(maxExts)),
      "maxStackBytes": .integer(Int64(maxStackBytes)),
      "maxQueueBytes": .integer(Int64(maxQueueBytes)),
      "maxClientBytes": .integer(Int64(maxClientBytes)),
      "maxSessionBytes": .integer(Int64(maxSessionBytes)),
      "maxServerBytes": .integer(Int64(maxServerBytes)),
      "maxRate": .integer(Int64(maxRate)), "maxBurst": .integer(Int64(maxBurst)),
      "maxOutbox": .integer(Int64(maxOutbox)),
      "maxOutboxMessages": .integer(Int64(maxOutboxMessages)),
      "maxKeys": .integer(Int64(maxKeys)), "resumeMs": .integer(resume.milliseconds),
      "pingMs": .integer(ping.milliseconds), "silenceMs": .integer(silence.milliseconds),
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
