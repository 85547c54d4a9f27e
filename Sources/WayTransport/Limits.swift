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
  /// Bytes of one blob. Beyond, the response is HTTP 413.
  public var maxBlob = 64 << 20
  /// Blobs of one session, with unfinished uploads. Beyond, the response is HTTP 429.
  public var maxBlobs = 64
  /// Bytes of the blobs of one session. Beyond, the response is HTTP 429.
  public var maxBlobBytes = 256 << 20
  /// Bytes of the blobs of all sessions. Beyond, the response is HTTP 507.
  public var maxServerBlobBytes = 4 << 30
  /// Time after its upload, or its last use, after which a blob is removed.
  public var blobExpiry: Duration = .seconds(3600)
  /// Time without progress after which an unfinished upload is removed.
  public var uploadExpiry: Duration = .seconds(600)
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
}

extension Limits {
  /// One of the limits: how the protocol and the settings name it, its property, and its range.
  package struct LimitDefinition: Sendable {
    /// The property of a limit, and its type.
    package enum LimitProperty: Sendable {
      /// A number of items or bytes in a range.
      case count(WritableKeyPath<Limits, Int> & Sendable, ClosedRange<Int> = 1...1 << 30)
      /// Whole milliseconds, at most a day.
      case time(WritableKeyPath<Limits, Duration> & Sendable)
    }

    /// The range of times.
    package static let millisecondRange = 1...86_400_000

    /// The name in the protocol and in configuration files.
    package let name: String
    package let property: LimitProperty
    /// The meaning, for the help of the command.
    package let help: String
    /// Whether the result of `session.open` contains it.
    package let isAnnounced: Bool

    fileprivate init(
      _ name: String, _ property: LimitProperty, _ help: String, isAnnounced: Bool = true
    ) {
      self.name = name
      self.property = property
      self.help = help
      self.isAnnounced = isAnnounced
    }
  }

  /// Every limit.
  package static let definitions: [LimitDefinition] = [
    LimitDefinition("maxMessage", .count(\.maxMessage), "Bytes of one message"),
    LimitDefinition(
      "maxAnswer", .count(\.maxAnswer), "Bytes of one response, or of all responses of a batch"),
    LimitDefinition("maxBatch", .count(\.maxBatch), "Messages in one batch"),
    LimitDefinition("maxDepth", .count(\.maxDepth), "Levels of arrays and objects in one message"),
    LimitDefinition("maxValues", .count(\.maxValues), "Values in one message, approximately"),
    LimitDefinition(
      "maxInFlight", .count(\.maxInFlight), "Calls of one client that wait for a response"),
    LimitDefinition(
      "maxHosts", .count(\.maxHosts),
      "Host registrations of one client, and patterns in one of them"),
    LimitDefinition(
      "maxPatterns", .count(\.maxPatterns), "Patterns in the host registrations of one session"),
    LimitDefinition("maxClients", .count(\.maxClients), "Clients in one session"),
    LimitDefinition(
      "maxSubscriptions", .count(\.maxSubscriptions), "Topics that one client can subscribe to"),
    LimitDefinition(
      "maxLinks", .count(\.maxLinks), "Deep links that wait in one session, or for future sessions"),
    LimitDefinition("maxTopic", .count(\.maxTopic), "Bytes of one topic"),
    LimitDefinition(
      "maxBacklog", .count(\.maxBacklog), "Bytes queued for a client at the time of an event"),
    LimitDefinition("maxExts", .count(\.maxExts), "Bytes of the exts of one call"),
    LimitDefinition(
      "maxStackBytes", .count(\.maxStackBytes),
      "Bytes of the URIs, params and exts of one session's pages"),
    LimitDefinition("maxQueueBytes", .count(\.maxQueueBytes), "Bytes queued for one client"),
    LimitDefinition(
      "maxClientBytes", .count(\.maxClientBytes),
      "Bytes held for one client: calls, patterns, deep links and its queue"),
    LimitDefinition(
      "maxSessionBytes", .count(\.maxSessionBytes),
      "Bytes held for the clients and pages of one session"),
    LimitDefinition("maxServerBytes", .count(\.maxServerBytes), "Bytes held for all sessions"),
    LimitDefinition(
      "maxRate", .count(\.maxRate, 0...1_000_000_000),
      "Calls a second of one client; 0, or --conformance, for any number"),
    LimitDefinition(
      "maxBurst", .count(\.maxBurst), "Calls that one client can make at once after a pause"),
    LimitDefinition(
      "maxOutbox", .count(\.maxOutbox), "Bytes of messages that one client has not acknowledged"),
    LimitDefinition(
      "maxOutboxMessages", .count(\.maxOutboxMessages),
      "Messages that one client has not acknowledged"),
    LimitDefinition(
      "maxOutboxBytes", .count(\.maxOutboxBytes),
      "Bytes of messages that all clients have not acknowledged", isAnnounced: false),
    LimitDefinition(
      "maxKeys", .count(\.maxKeys), "Stored results of one session's calls with an idempotency key"),
    LimitDefinition("maxSessions", .count(\.maxSessions), "Sessions", isAnnounced: false),
    LimitDefinition(
      "maxConnections", .count(\.maxConnections), "Connections of any kind", isAnnounced: false),
    LimitDefinition(
      "maxUnauthenticated", .count(\.maxUnauthenticated),
      "Connections whose clients are not authenticated", isAnnounced: false),
    LimitDefinition(
      "maxReserved", .count(\.maxReserved),
      "Connections and sessions of administrators beyond the limits of all", isAnnounced: false),
    LimitDefinition(
      "maxAddressConnections", .count(\.maxAddressConnections, 0...1 << 30),
      "Connections of one address of another machine; 0 for any number", isAnnounced: false),
    LimitDefinition(
      "maxAddressRate", .count(\.maxAddressRate, 0...1 << 30),
      "Connections a second of one address of another machine; 0 for any number", isAnnounced: false
    ),
    LimitDefinition(
      "maxUserConnections", .count(\.maxUserConnections, 0...1 << 30),
      "Connections of one user; 0 for any number", isAnnounced: false),
    LimitDefinition(
      "maxUserRate", .count(\.maxUserRate, 0...1 << 30),
      "Connections a second of one user; 0 for any number", isAnnounced: false),
    LimitDefinition(
      "maxUserSessions", .count(\.maxUserSessions, 0...1 << 30),
      "Sessions of one user; 0 for any number", isAnnounced: false),
    LimitDefinition(
      "maxHello", .count(\.maxHello),
      "Bytes of a message of a client that is not authenticated yet", isAnnounced: false),
    LimitDefinition(
      "maxHead", .count(\.maxHead),
      "Bytes of the header fields of an HTTP request, with the cookies and the first line",
      isAnnounced: false),
    LimitDefinition("maxBlob", .count(\.maxBlob), "Bytes of one blob", isAnnounced: false),
    LimitDefinition(
      "maxBlobs", .count(\.maxBlobs), "Blobs of one session, with unfinished uploads",
      isAnnounced: false),
    LimitDefinition(
      "maxBlobBytes", .count(\.maxBlobBytes, 1...1 << 40), "Bytes of the blobs of one session",
      isAnnounced: false),
    LimitDefinition(
      "maxServerBlobBytes", .count(\.maxServerBlobBytes, 1...1 << 40),
      "Bytes of the blobs of all sessions", isAnnounced: false),
    LimitDefinition(
      "blobExpiryMs", .time(\.blobExpiry),
      "Milliseconds after its upload or last use after which a blob is removed", isAnnounced: false),
    LimitDefinition(
      "uploadExpiryMs", .time(\.uploadExpiry),
      "Milliseconds without progress after which an unfinished upload is removed",
      isAnnounced: false),
    LimitDefinition(
      "pingMs", .time(\.ping), "Milliseconds of silence before the server sends a client a ping"),
    LimitDefinition(
      "silenceMs", .time(\.silence), "Milliseconds of silence before the server closes a connection"
    ),
    LimitDefinition(
      "resumeMs", .time(\.resume),
      "Milliseconds in which a client can resume after a lost connection"),
    LimitDefinition(
      "helloMs", .time(\.hello), "Milliseconds in which a client must send session.open"),
    LimitDefinition(
      "pageOpenMs", .time(\.pageOpen), "Milliseconds in which a host must respond to page.open"),
  ]

  /// The limits with every value in its range.
  package var clamped: Limits {
    var limits = self
    for definition in Self.definitions {
      switch definition.property {
      case .count(let path, let range):
        limits[keyPath: path] = min(max(self[keyPath: path], range.lowerBound), range.upperBound)
      case .time(let path):
        let range = LimitDefinition.millisecondRange
        limits[keyPath: path] = min(
          max(self[keyPath: path], .milliseconds(range.lowerBound)),
          .milliseconds(range.upperBound))
      }
    }
    limits.maxUnauthenticated = min(limits.maxUnauthenticated, limits.maxConnections)
    limits.maxHello = min(limits.maxHello, limits.maxMessage)
    limits.maxQueueBytes = max(limits.maxQueueBytes, limits.maxAnswer)
    limits.maxClientBytes = max(limits.maxClientBytes, limits.maxQueueBytes)
    limits.silence = max(limits.silence, limits.ping + .milliseconds(1))
    return limits
  }
}
