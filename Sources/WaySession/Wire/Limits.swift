import WayNavigation
import WayRouting
import WayValues

/// Bounds on values that a peer chooses. The result of `session.open` contains those that concern
/// clients.
///
/// Counts and sizes are clamped to the range from 1 to 2³⁰, or from 0 if 0 means no limit; times to
/// the range from a millisecond to a day.
public struct Limits: Sendable, Hashable {
  /// Bytes of one message; a larger one closes the connection with 1009.
  public var maxMessage = 1 << 20
  /// Bytes of one message of a client that is not authenticated yet, on a server that authenticates
  /// clients; a larger one closes the connection with 1009.
  public var maxHello = 64 << 10
  /// Bytes of one response, or of all responses of a batch. A larger one becomes the error 2413.
  public var maxAnswer = 4 << 20
  /// Messages in one batch.
  public var maxBatch = 100
  /// Levels of arrays and objects in one message.
  public var maxDepth = 128
  /// Values in one message, approximately: arrays, objects, member names and all others. They use
  /// more memory than their bytes. More are the error 2413.
  public var maxValues = 32_768
  /// Calls of one client that wait for their response. Those whose page is shown do not count.
  public var maxInFlight = 256
  /// Entries in the host registrations of one client, and patterns in one entry.
  public var maxHosts = 64
  /// Patterns in the host registrations of one session. A pattern with optional groups counts once
  /// for each pattern that it expands to.
  public var maxPatterns = 4096
  /// Clients of one session.
  public var maxClients = 64
  /// Topics that one client may be subscribed to.
  public var maxSubscriptions = 64
  /// Bytes of one topic, including a `*` at its end.
  public var maxTopic = 256
  /// Bytes that may be queued for a client when an event is due. Beyond, its connection is closed
  /// with 4201.
  public var maxBacklog = 1 << 20
  /// Deep links of one session that wait until they can be opened, and those for one user, group or
  /// all that wait for future sessions.
  public var maxLinks = 32
  /// Bytes of the `exts` of a call, approximately: they reach the host of each page that it closes.
  /// More is the error 2413.
  public var maxExts = 16 << 10
  /// Bytes that a session holds for its pages, open or waiting to be opened: their URIs, parameters
  /// and `exts`, approximately. A page beyond is the error 2413.
  public var maxStackBytes = 4 << 20
  /// Bytes queued for one client. Beyond, its connection is closed with 4201. At least `maxAnswer`.
  public var maxQueueBytes = 8 << 20
  /// Bytes held for one client, approximately: params and ids of unfinished calls, patterns, deep
  /// links and the send queue. Beyond, a call is the error 2429, and a queue closes the connection
  /// with 4201. At least `maxQueueBytes`.
  public var maxClientBytes = 16 << 20
  /// Bytes held for all clients of one session, and its pages.
  public var maxSessionBytes = 64 << 20
  /// Bytes held for all sessions. The queues of all clients may hold as many again, and so may the
  /// unfinished messages of all clients.
  public var maxServerBytes = 256 << 20
  /// Bytes of messages to one client that it has not acknowledged, or that wait while it is
  /// disconnected. A single message may have any size. Beyond, its connection is closed with 4201,
  /// and a disconnected client cannot resume any more.
  public var maxOutbox = 1 << 20
  /// Messages in that outbox.
  public var maxOutboxMessages = 1024
  /// Bytes in the outboxes of the clients of all sessions. Beyond, the disconnected clients with
  /// the largest outboxes cannot resume any more.
  public var maxOutboxBytes = 256 << 20
  /// Results of calls with an idempotency key that one session stores. As many such calls may be in
  /// progress.
  public var maxKeys = 256
  /// Time in which a client may resume after its connection was lost.
  public var resume: Duration = .seconds(120)
  /// Calls a second of one client, on average. Beyond, they are the error 2429 with
  /// `data.retryAfterMs`. 0 means no limit.
  public var maxRate = 1000
  /// Calls that a client may make at once after a pause.
  public var maxBurst = 2000
  /// Sessions of the bridge. Beyond, `session.open` is the error 2503, and the connection is closed
  /// with 4100.
  public var maxSessions = 10_000
  /// Connections of any kind. Beyond, the response to the handshake is HTTP 503.
  public var maxConnections = 10_000
  /// Connections of any kind whose clients are not authenticated, on a server that authenticates
  /// clients. Beyond, the one that has waited longest is closed: with 4100, or HTTP 503.
  public var maxUnauthenticated = 1_000
  /// WebSocket connections beyond `maxConnections`, and sessions beyond `maxSessions`, for clients
  /// that the policy allows an administrative method.
  public var maxReserved = 16
  /// Connections of one address, except for programs of this machine; 0 for no limit. Behind a
  /// trusted proxy, WebSocket connections of the address that it names. An IPv6 address is its first
  /// 64 bits. Beyond, the response is HTTP 429.
  public var maxAddressConnections = 1_000
  /// Connections a second of one address, on average; 0 for no limit. As many as that,
  /// or as `maxAddressConnections`, may come at once. Beyond, the response is HTTP 429.
  public var maxAddressRate = 100
  /// Connections of one user that its token names; 0 for no limit. Beyond, `session.open` is the
  /// error 2503, and the connection is closed with 4100. Connections that resume always count.
  public var maxUserConnections = 1_000
  /// Connections a second of one user, on average; 0 for no limit. As many as that, or as
  /// `maxUserConnections`, may come at once. Beyond, the same applies.
  public var maxUserRate = 100
  /// Sessions of one user; 0 for no limit. Beyond, the same applies.
  public var maxUserSessions = 1_000
  /// Bytes of the head of an HTTP request: its first line and its header fields, with the cookies.
  /// Beyond, the response is HTTP 431.
  public var maxHead = 32 << 10
  /// Silence of a client after which the server sends a WebSocket ping.
  public var ping: Duration = .seconds(20)
  /// Silence of a client, pongs included, after which its connection is closed with 4202. More than
  /// `ping`.
  public var silence: Duration = .seconds(35)
  /// Time to send `session.open` on a connection with the subprotocol `waybridge.v1`, or the first
  /// message on a plain connection of a server that authenticates clients.
  public var hello: Duration = .seconds(5)
  /// Time for a host to respond to `page.open`.
  public var pageOpen: Duration = .seconds(10)

  /// Creates the limits that PROTOCOL.md specifies.
  public init() {}

  /// The limits with every value in its range.
  package var clamped: Limits {
    var limits = self
    let counts: [WritableKeyPath<Limits, Int>] = [
      \.maxMessage, \.maxHello, \.maxAnswer, \.maxBatch, \.maxDepth, \.maxValues, \.maxInFlight,
      \.maxHosts,
      \.maxPatterns,
      \.maxClients,
      \.maxSubscriptions, \.maxTopic, \.maxBacklog, \.maxLinks, \.maxExts, \.maxStackBytes,
      \.maxQueueBytes,
      \.maxClientBytes, \.maxSessionBytes, \.maxServerBytes, \.maxBurst, \.maxSessions,
      \.maxOutbox, \.maxOutboxMessages, \.maxOutboxBytes, \.maxKeys,
      \.maxConnections, \.maxUnauthenticated, \.maxReserved, \.maxHead,
    ]
    for count in counts { limits[keyPath: count] = min(max(self[keyPath: count], 1), 1 << 30) }
    let times: [WritableKeyPath<Limits, Duration>] = [
      \.hello, \.pageOpen, \.ping, \.silence, \.resume,
    ]
    for time in times {
      limits[keyPath: time] = min(max(self[keyPath: time], .milliseconds(1)), .seconds(86_400))
    }
    let optionalCounts: [WritableKeyPath<Limits, Int>] = [
      \.maxAddressConnections, \.maxAddressRate, \.maxUserConnections, \.maxUserRate,
      \.maxUserSessions,
    ]
    for count in optionalCounts {
      limits[keyPath: count] = min(max(self[keyPath: count], 0), 1 << 30)
    }
    limits.maxUnauthenticated = min(limits.maxUnauthenticated, limits.maxConnections)
    limits.maxHello = min(limits.maxHello, limits.maxMessage)
    limits.maxRate = min(max(maxRate, 0), 1_000_000_000)
    limits.maxQueueBytes = max(limits.maxQueueBytes, limits.maxAnswer)
    limits.maxClientBytes = max(limits.maxClientBytes, limits.maxQueueBytes)
    limits.silence = max(limits.silence, limits.ping + .milliseconds(1))
    return limits
  }

  /// The limits in the result of `session.open`; times in milliseconds.
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
