import Logging
import Waybridge

/// The settings of the command, from flags, environment variables and a configuration file.
struct Configuration: Sendable {
  var host = "127.0.0.1"
  var port = 8080
  var unix: String?
  var prefix = ""
  var drainTimeout = 30
  var loops = 0
  var data: String?
  var cluster = ""
  var clusterReplicas = 1
  var allowedOrigins: [String] = []
  var allowedHosts: [String] = []
  var trustedProxies: [String] = []
  var contentSecurityPolicy = BridgeConfiguration.defaultContentSecurityPolicy
  var table: String?
  var tableCache: String?
  var tableInterval = 60
  var policy: String?
  var web: String?
  var omitsClient = false
  var omitsInspector = false
  var enablesConformanceMethods = false
  var url = "ws://127.0.0.1:8080/bridge"
  var tokenFile: String?
  var sessionID = ""
  var joinToken = ""
  var tokenSecretFile: String?
  var tokenKeyFile: String?
  var allowsAnonymous = false
  var logLevel = Logger.Level.notice.rawValue
  var logFormat = LogFormat.text.rawValue
  var limits = Limits()
}

extension Configuration {
  /// Every setting, with its key in a configuration file. The names of its variable and its flag
  /// are derived from the key.
  static let allSettings: [Setting] = [
    Setting(
      "table", .path(\.table),
      """
      Route table: a JSON file, or an https:// URL (http:// for this machine). The server reloads a \
      file that changes, and fetches a URL repeatedly
      """),
    Setting(
      "tableCache", .path(\.tableCache),
      """
      Folder for the last valid table of each URL, used while the URL cannot be fetched; without it \
      ~/.cache/waybridge/tables
      """),
    Setting(
      "tableInterval", .integer(\.tableInterval, 1...86_400),
      "Seconds until a table with a URL is fetched again"),
    Setting(
      "policy", .path(\.policy),
      """
      Policy: a JSON file with the origins and hosts to accept, and the calls to allow. The server \
      reloads a file that changes
      """),
    Setting(
      "host", .string(\.host),
      """
      Address to listen on; localhost for 127.0.0.1 and ::1, 0.0.0.0 for all IPv4 addresses, :: for \
      all addresses. Other addresses than 127.0.0.1, localhost and ::1 require tokens or \
      --allow-anonymous
      """),
    Setting("port", .integer(\.port, 0...65_535), "Port to listen on; 0 selects a free port"),
    Setting(
      "unix", .path(\.unix),
      """
      Path of a Unix socket to listen on, instead of host and port. Only programs of the same user \
      can connect. The first line of output is then "listening on http+unix://PATH", with the path \
      percent-encoded
      """),
    Setting(
      "prefix", .validatedString(\.prefix, .prefix),
      "Path below which everything is served, such as /app; clients then connect to /app/bridge"),
    Setting(
      "allowOrigin", .strings(\.allowedOrigins, .origin),
      """
      Origins of pages to accept, in addition to the server's own: https://app.example.org, with * \
      for any port or for the first label of the host, or null for pages without an origin
      """),
    Setting(
      "allowHost", .strings(\.allowedHosts, .host),
      """
      Names of the server, in addition to 127.0.0.1, localhost and [::1], as NAME or NAME:PORT. \
      Pages that are loaded from these names are accepted
      """),
    Setting(
      "trustedProxy", .strings(\.trustedProxies, .proxy),
      """
      Proxies that report the address of their client: IPv4, IPv6, networks such as 10.0.0.0/8, or \
      unix for programs that use the Unix socket. The server rejects other proxies
      """),
    Setting(
      "contentSecurityPolicy", .string(\.contentSecurityPolicy),
      "Content security policy of the served files; empty for none"),
    Setting(
      "web", .path(\.web),
      "Folder of files to serve at /; without it, the web files that come with Waybridge"),
    Setting(
      "noClient", .boolean(\.omitsClient),
      """
      Do not serve the JavaScript client at /bridge/. If --web has a folder "bridge", the server \
      serves that folder in any case
      """),
    Setting(
      "noInspector", .boolean(\.omitsInspector),
      """
      Do not serve the inspector at /inspector/. It shows the results of the methods admin.… to \
      clients that the policy allows to call them
      """),
    Setting(
      "data", .path(\.data),
      """
      Folder for durable sessions: clients resume them after a crash or a restart of the server. The \
      server creates the folder. Only one server can use it at a time. See waybridge sessions
      """),
    Setting(
      "cluster", .string(\.cluster),
      """
      NATS servers with JetStream that connect the servers of a cluster: \
      nats://[USER:PASSWORD@]HOST[:PORT] or tls://…, separated by commas. Clients can connect to any \
      server of the cluster. NATS stores the sessions, and another server takes over the sessions of \
      a server that ends
      """),
    Setting(
      "clusterReplicas", .integer(\.clusterReplicas, 1...5),
      """
      Number of NATS servers that store each session: 1, 3 or 5. Only the first server of a new \
      cluster uses this setting
      """),
    Setting(
      "loops", .integer(\.loops, 0...256),
      """
      Number of event loops, each a thread with its own connections and sessions; 0 for one per \
      available core
      """),
    Setting(
      "drain", .integer(\.drainTimeout, 0...86_400),
      """
      Seconds in which calls can still complete after SIGTERM; new calls are rejected. A second \
      SIGTERM ends the server at once
      """),
    Setting(
      "conformance", .boolean(\.enablesConformanceMethods),
      """
      Add the JSON-RPC specification's example methods, echo, the task action://echo and an echo \
      of messages at /echo, for tests of clients
      """),
    Setting("url", .string(\.url), "URL of the server"),
    Setting(
      "tokenFile", .path(\.tokenFile),
      "File with the token that opens a session; only its owner may have access to it"),
    Setting("session", .string(\.sessionID), "Id of the session to join"),
    Setting(
      "join", .string(\.joinToken),
      """
      Join token of that session, a secret. Other users of this machine can see the flag, but not \
      the variable
      """),
    Setting(
      "tokenSecretFile", .path(\.tokenSecretFile),
      """
      File with the secret that signs clients' tokens (HS256), at least 32 bytes. Only its owner may \
      have access to it. The server reloads a file that changes. See waybridge token make
      """),
    Setting(
      "tokenKeyFile", .path(\.tokenKeyFile),
      """
      File with the public keys of clients' tokens (EdDSA), as PEM. Only its owner may have access \
      to it. The server reloads a file that changes
      """),
    Setting(
      "allowAnonymous", .boolean(\.allowsAnonymous),
      """
      Accept clients without a token, without an identity, and allow --host to be any address. Other \
      machines can then make every call that the policy allows to all clients
      """),
    Setting(
      "log.level", .choice(\.logLevel, Logger.Level.allCases.map(\.rawValue)),
      """
      Lowest level of the log on standard error: trace, debug (every call), info (sessions, start \
      and end), notice, warning (rejections, slow clients, silent hosts), error or critical
      """),
    Setting(
      "log.format", .choice(\.logFormat, LogFormat.allCases.map(\.rawValue)),
      "Format of the log: text, or json with one object a line"),
    Setting("limits.maxMessage", .count(\.limits.maxMessage), "Bytes of one message"),
    Setting(
      "limits.maxAnswer", .count(\.limits.maxAnswer),
      "Bytes of one response, or of all responses of a batch"),
    Setting("limits.maxBatch", .count(\.limits.maxBatch), "Messages in one batch"),
    Setting(
      "limits.maxDepth", .count(\.limits.maxDepth), "Levels of arrays and objects in one message"),
    Setting(
      "limits.maxValues", .count(\.limits.maxValues), "Values in one message, approximately"),
    Setting(
      "limits.maxInFlight", .count(\.limits.maxInFlight),
      "Calls of one client that wait for a response"),
    Setting(
      "limits.maxHosts", .count(\.limits.maxHosts),
      "Host registrations of one client, and patterns in one of them"),
    Setting(
      "limits.maxPatterns", .count(\.limits.maxPatterns),
      "Patterns in the host registrations of one session"),
    Setting("limits.maxClients", .count(\.limits.maxClients), "Clients in one session"),
    Setting(
      "limits.maxSubscriptions", .count(\.limits.maxSubscriptions),
      "Topics that one client can subscribe to"),
    Setting(
      "limits.maxLinks", .count(\.limits.maxLinks),
      "Deep links that wait in one session, or for future sessions"),
    Setting("limits.maxTopic", .count(\.limits.maxTopic), "Bytes of one topic"),
    Setting(
      "limits.maxBacklog", .count(\.limits.maxBacklog),
      "Bytes queued for a client at the time of an event"),
    Setting("limits.maxExts", .count(\.limits.maxExts), "Bytes of the exts of one call"),
    Setting(
      "limits.maxStackBytes", .count(\.limits.maxStackBytes),
      "Bytes of the URIs, params and exts of one session's pages"),
    Setting(
      "limits.maxQueueBytes", .count(\.limits.maxQueueBytes), "Bytes queued for one client"),
    Setting(
      "limits.maxClientBytes", .count(\.limits.maxClientBytes),
      "Bytes held for one client: calls, patterns, deep links and its queue"),
    Setting(
      "limits.maxSessionBytes", .count(\.limits.maxSessionBytes),
      "Bytes held for the clients and pages of one session"),
    Setting(
      "limits.maxServerBytes", .count(\.limits.maxServerBytes), "Bytes held for all sessions"),
    Setting(
      "limits.maxRate", .integer(\.limits.maxRate, 0...1_000_000_000),
      "Calls a second of one client; 0, or --conformance, for any number"),
    Setting(
      "limits.maxBurst", .count(\.limits.maxBurst),
      "Calls that one client can make at once after a pause"),
    Setting(
      "limits.maxOutbox", .count(\.limits.maxOutbox),
      "Bytes of messages that one client has not acknowledged"),
    Setting(
      "limits.maxOutboxMessages", .count(\.limits.maxOutboxMessages),
      "Messages that one client has not acknowledged"),
    Setting(
      "limits.maxOutboxBytes", .count(\.limits.maxOutboxBytes),
      "Bytes of messages that all clients have not acknowledged"),
    Setting(
      "limits.maxKeys", .count(\.limits.maxKeys),
      "Stored results of one session's calls with an idempotency key"),
    Setting("limits.maxSessions", .count(\.limits.maxSessions), "Sessions"),
    Setting("limits.maxConnections", .count(\.limits.maxConnections), "Connections of any kind"),
    Setting(
      "limits.maxHead", .count(\.limits.maxHead),
      "Bytes of the header fields of an HTTP request, with the cookies and the first line"),
    Setting(
      "limits.pingMs", .milliseconds(\.limits.ping),
      "Milliseconds of silence before the server sends a client a ping"),
    Setting(
      "limits.silenceMs", .milliseconds(\.limits.silence),
      "Milliseconds of silence before the server closes a connection"),
    Setting(
      "limits.resumeMs", .milliseconds(\.limits.resume),
      "Milliseconds in which a client can resume after a lost connection"),
    Setting(
      "limits.helloMs", .milliseconds(\.limits.hello),
      "Milliseconds in which a client must send session.open"),
    Setting(
      "limits.pageOpenMs", .milliseconds(\.limits.pageOpen),
      "Milliseconds in which a host must respond to page.open"),
  ]
}
