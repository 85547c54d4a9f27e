import Logging
import Waybridge

/// What the command is told by flags, by environment variables and by a configuration file.
struct Configuration: Sendable {
  var host = "127.0.0.1"
  var port = 8080
  var unix: String?
  var prefix = ""
  var drain = 30
  var loops = 0
  var data: String?
  var cluster = ""
  var clusterReplicas = 1
  var allowedOrigins: [String] = []
  var allowedHosts: [String] = []
  var trustedProxies: [String] = []
  var contentSecurityPolicy = BridgeConfiguration.usualContentSecurityPolicy
  var table: String?
  var tableCache: String?
  var tableInterval = 60
  var policy: String?
  var web: String?
  var isWithoutClient = false
  var isWithoutInspector = false
  var isConformance = false
  var url = "ws://127.0.0.1:8080/bridge"
  var tokenFile: String?
  var session = ""
  var join = ""
  var tokenSecretFile: String?
  var tokenKeyFile: String?
  var allowsAnonymous = false
  var logLevel = Logger.Level.notice.rawValue
  var logFormat = LogFormat.text.rawValue
  var limits = Limits()
}

extension Configuration {
  /// Every setting: the key in a configuration file, from which the names of its variable and flag
  /// follow.
  static let all: [Setting] = [
    Setting(
      "table", .path(\.table),
      """
      The route table, a JSON document: a file, which a bridge follows, or an https:// address (http:// \
      on this machine), which it fetches again and again.
      """),
    Setting(
      "tableCache", .path(\.tableCache),
      """
      The folder that keeps the last good table of each address, for when its server is away; \
      without it ~/.cache/waybridge/tables.
      """),
    Setting(
      "tableInterval", .integer(\.tableInterval, 1...86_400),
      "Seconds after which a table with an address is asked for again."),
    Setting(
      "policy", .path(\.policy),
      """
      The policy, a JSON document: who comes in, and who may call what. Read again when it changes.
      """),
    Setting(
      "host", .text(\.host),
      """
      The address to listen on: 127.0.0.1, localhost or ::1; another only with tokens, or with \
      --allow-anonymous.
      """),
    Setting("port", .integer(\.port, 0...65_535), "The port to listen on; 0 takes any free one."),
    Setting(
      "unix", .path(\.unix),
      """
      The path of a Unix socket to listen at, in the place of host and port; only programs of the \
      same user can connect to it. The first line is then "listening on http+unix://PATH", the path \
      percent-encoded.
      """),
    Setting(
      "prefix", .formed(\.prefix, .prefix),
      "The path below which everything is served, such as /app; the bridge is then at /app/bridge."),
    Setting(
      "allowOrigin", .list(\.allowedOrigins, .origin),
      """
      Origins whose pages come in, besides the server's own: https://app.example.org, with * for \
      any port or for the first label of the host, or null for pages that have none.
      """),
    Setting(
      "allowHost", .list(\.allowedHosts, .host),
      """
      Names of the server besides 127.0.0.1, localhost and [::1], as NAME or NAME:PORT; pages \
      that are served under them come in.
      """),
    Setting(
      "trustedProxy", .list(\.trustedProxies, .proxy),
      """
      Addresses of proxies that say for whom they ask: IPv4, IPv6, networks such as 10.0.0.0/8, or \
      unix for whoever comes by the Unix socket. Other proxies are refused.
      """),
    Setting(
      "contentSecurityPolicy", .text(\.contentSecurityPolicy),
      "The content security policy of the files that are served; empty for none."),
    Setting(
      "web", .path(\.web),
      "The folder of files to serve at /. Without it, the web files that come with Waybridge."),
    Setting(
      "noClient", .truth(\.isWithoutClient),
      """
      Do not serve the JavaScript client at /bridge/. (A folder bridge of a folder that is named is \
      served in its place.)
      """),
    Setting(
      "noInspector", .truth(\.isWithoutInspector),
      """
      Do not serve the inspector at /inspector/. It shows what the methods admin.… tell, to those \
      whom the policy lets call them.
      """),
    Setting(
      "data", .path(\.data),
      """
      A folder that sessions are kept in, so that clients go on after a crash or a restart of the \
      server; made where there is none. One server uses it at a time. See waybridge sessions.
      """),
    Setting(
      "cluster", .text(\.cluster),
      """
      NATS with JetStream, which several servers share: nats://[USER:PASSWORD@]HOST[:PORT] or \
      tls://…, several engines with commas between them. Clients come in at any of the servers; \
      sessions are kept there, in the place of a folder, and another server goes on with those of \
      one that ends.
      """),
    Setting(
      "clusterReplicas", .integer(\.clusterReplicas, 1...5),
      """
      How many engines keep each session: 1, 3 or 5. It counts where the first server of a cluster \
      starts.
      """),
    Setting(
      "loops", .integer(\.loops, 0...256),
      """
      Event loops, each a thread with connections and sessions of its own; 0 takes as many as there \
      are cores to run on.
      """),
    Setting(
      "drain", .integer(\.drain, 0...86_400),
      """
      Seconds in which calls may end after SIGTERM, while no others begin. A second SIGTERM ends \
      the server at once.
      """),
    Setting(
      "conformance", .truth(\.isConformance),
      """
      Add the JSON-RPC specification's example methods, echo, the task action://echo and an echo \
      of messages at /echo, for testing clients.
      """),
    Setting("url", .text(\.url), "The bridge's address."),
    Setting(
      "tokenFile", .path(\.tokenFile),
      "A file that holds the token to open a session with; nobody but its owner may have access "
        + "to it."
    ),
    Setting("session", .text(\.session), "The id of the session to become a member of."),
    Setting(
      "join", .text(\.join),
      """
      The join token of that session, a secret: others of this machine see the flag, and not the \
      variable.
      """),
    Setting(
      "tokenSecretFile", .path(\.tokenSecretFile),
      """
      A file of at least 32 bytes: the secret that clients' tokens are signed with (HS256); nobody \
      but its owner may have access to it. Read again when it changes. See waybridge token make.
      """),
    Setting(
      "tokenKeyFile", .path(\.tokenKeyFile),
      """
      A file of the public keys, as PEM, that clients' tokens are signed with (EdDSA); nobody but \
      its owner may have access to it. Read again when it changes.
      """),
    Setting(
      "allowAnonymous", .truth(\.allowsAnonymous),
      """
      Take who has no token as nobody in particular, and listen beyond loopback without asking for \
      tokens: other machines then call whatever the policy lets everybody call.
      """),
    Setting(
      "log.level", .choice(\.logLevel, Logger.Level.allCases.map(\.rawValue)),
      """
      What is logged to standard error: trace, debug (every call), info (sessions, start and end), \
      notice, warning (refusals, slow clients, silent hosts), error or critical.
      """),
    Setting(
      "log.format", .choice(\.logFormat, LogFormat.allCases.map(\.rawValue)),
      "How lines of the log are written: text, or json, one object a line."),
    Setting("limits.maxMessage", .count(\.limits.maxMessage), "Bytes of one message."),
    Setting(
      "limits.maxAnswer", .count(\.limits.maxAnswer),
      "Bytes of one answer, a whole batch's together."),
    Setting("limits.maxBatch", .count(\.limits.maxBatch), "Messages in one batch."),
    Setting(
      "limits.maxDepth", .count(\.limits.maxDepth), "Levels of arrays and objects in one message."),
    Setting("limits.maxValues", .count(\.limits.maxValues), "Values in one message, about."),
    Setting(
      "limits.maxInFlight", .count(\.limits.maxInFlight),
      "Calls of one client that wait for an answer."),
    Setting(
      "limits.maxHosts", .count(\.limits.maxHosts),
      "Host declarations of one client, and patterns in one."),
    Setting(
      "limits.maxPatterns", .count(\.limits.maxPatterns),
      "Patterns in the host declarations of one session."),
    Setting("limits.maxClients", .count(\.limits.maxClients), "Clients in one session."),
    Setting(
      "limits.maxSubscriptions", .count(\.limits.maxSubscriptions),
      "Topics that one client may be subscribed to."),
    Setting("limits.maxLinks", .count(\.limits.maxLinks), "Deep links of one session that wait."),
    Setting("limits.maxTopic", .count(\.limits.maxTopic), "Bytes of one topic."),
    Setting(
      "limits.maxBacklog", .count(\.limits.maxBacklog),
      "Bytes that may wait for a client when an event is due."),
    Setting("limits.maxExts", .count(\.limits.maxExts), "Bytes of the exts of one call."),
    Setting(
      "limits.maxStackBytes", .count(\.limits.maxStackBytes),
      "Bytes of the URIs, params and exts of one session's pages."),
    Setting(
      "limits.maxQueueBytes", .count(\.limits.maxQueueBytes),
      "Bytes that wait to be sent to one client."),
    Setting(
      "limits.maxClientBytes", .count(\.limits.maxClientBytes),
      "Bytes that are kept for one client: calls, patterns, links, what waits to be sent."),
    Setting(
      "limits.maxSessionBytes", .count(\.limits.maxSessionBytes),
      "Bytes that are kept for the clients and pages of one session."),
    Setting(
      "limits.maxServerBytes", .count(\.limits.maxServerBytes),
      "Bytes that are kept for all sessions."),
    Setting(
      "limits.maxRate", .integer(\.limits.maxRate, 0...1_000_000_000),
      "Calls a second of one client; 0 for any number, as with --conformance."),
    Setting(
      "limits.maxBurst", .count(\.limits.maxBurst),
      "Calls that one client may make at once after it made none."),
    Setting(
      "limits.maxOutbox", .count(\.limits.maxOutbox),
      "Bytes that one client has not acknowledged."),
    Setting(
      "limits.maxOutboxMessages", .count(\.limits.maxOutboxMessages),
      "Messages that one client has not acknowledged."),
    Setting(
      "limits.maxOutboxBytes", .count(\.limits.maxOutboxBytes),
      "Bytes that all clients have not acknowledged."),
    Setting(
      "limits.maxKeys", .count(\.limits.maxKeys),
      "Results of calls with a key that are kept in one session, and such calls under way."),
    Setting("limits.maxSessions", .count(\.limits.maxSessions), "Sessions."),
    Setting("limits.maxConnections", .count(\.limits.maxConnections), "Connections of any kind."),
    Setting(
      "limits.pingMs", .milliseconds(\.limits.ping),
      "Milliseconds of silence after which a client is sent a ping."),
    Setting(
      "limits.silenceMs", .milliseconds(\.limits.silence),
      "Milliseconds of silence after which a client is closed."),
    Setting(
      "limits.resumeMs", .milliseconds(\.limits.resume),
      "Milliseconds in which a client may resume whose connection was lost."),
    Setting(
      "limits.helloMs", .milliseconds(\.limits.hello), "Milliseconds to send session.open in."),
    Setting(
      "limits.pageOpenMs", .milliseconds(\.limits.pageOpen),
      "Milliseconds for a host to answer page.open in."),
  ]
}
