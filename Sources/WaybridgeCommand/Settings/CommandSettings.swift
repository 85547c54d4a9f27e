import Logging
import Waybridge

/// The settings of the command, from flags, environment variables and a configuration file.
struct CommandSettings: Sendable {
  var host = "127.0.0.1"
  var port = 8080
  var unix: String?
  var prefix = ""
  var drainTimeout = 30
  var loops = 0
  var data: String?
  var cluster = ""
  var clusterName = "waybridge"
  var clusterReplicas = 1
  var clusterSecretFile: String?
  var clusterCredentials: String?
  var clusterCA: String?
  var clusterCertificate: String?
  var clusterKey: String?
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
  var tokenKeySetURL = ""
  var tokenIssuer = ""
  var tokenAudience = "waybridge"
  var tokenGroupsClaim = "groups"
  var allowsAnonymous = false
  var logLevel = Logger.Level.notice.rawValue
  var logFormat = LogFormat.text.rawValue
  var limits = Limits()
}

extension CommandSettings {
  /// Every setting, with its key in a configuration file. The names of its variable and its flag
  /// are derived from the key.
  static let allSettings: [CommandSetting] = [
    CommandSetting(
      "table", .path(\.table),
      """
      Route table: a JSON file, or an https:// URL (http:// for this machine). The server reloads a \
      file that changes, and fetches a URL repeatedly
      """),
    CommandSetting(
      "tableCache", .path(\.tableCache),
      """
      Folder for the last valid table of each URL, used while the URL cannot be fetched; without it \
      ~/.cache/waybridge/tables
      """),
    CommandSetting(
      "tableInterval", .integer(\.tableInterval, 1...86_400),
      "Seconds until a table with a URL is fetched again"),
    CommandSetting(
      "policy", .path(\.policy),
      """
      Policy: a JSON file with the origins and hosts to accept, and the calls to allow. The server \
      reloads a file that changes
      """),
    CommandSetting(
      "host", .string(\.host),
      """
      Address to listen on; localhost for 127.0.0.1 and ::1, 0.0.0.0 for all IPv4 addresses, :: for \
      all addresses. Other addresses than 127.0.0.1, localhost and ::1 require tokens or \
      --allow-anonymous
      """),
    CommandSetting(
      "port", .integer(\.port, 0...65_535), "Port to listen on; 0 selects a free port"),
    CommandSetting(
      "unix", .path(\.unix),
      """
      Path of a Unix socket to listen on, instead of host and port. Only programs of the same user \
      can connect. The first line of output is then "listening on http+unix://PATH", with the path \
      percent-encoded
      """),
    CommandSetting(
      "prefix", .validatedString(\.prefix, .prefix),
      "Path below which everything is served, such as /app; clients then connect to /app/bridge"),
    CommandSetting(
      "allowOrigin", .strings(\.allowedOrigins, .origin),
      """
      Origins of pages to accept, in addition to the server's own: https://app.example.org, with * \
      for any port or for the first label of the host, or null for pages without an origin
      """),
    CommandSetting(
      "allowHost", .strings(\.allowedHosts, .host),
      """
      Names of the server, in addition to 127.0.0.1, localhost and [::1], as NAME or NAME:PORT. \
      Pages that are loaded from these names are accepted
      """),
    CommandSetting(
      "trustedProxy", .strings(\.trustedProxies, .proxy),
      """
      Proxies that report the address of their client: IPv4, IPv6, networks such as 10.0.0.0/8, or \
      unix for programs that use the Unix socket. The server rejects other proxies
      """),
    CommandSetting(
      "contentSecurityPolicy", .string(\.contentSecurityPolicy),
      "Content security policy of the served files; empty for none"),
    CommandSetting(
      "web", .path(\.web),
      "Folder of files to serve at /; without it, the web files that come with Waybridge"),
    CommandSetting(
      "noClient", .boolean(\.omitsClient),
      """
      Do not serve the JavaScript client at /bridge/. If --web has a folder "bridge", the server \
      serves that folder in any case
      """),
    CommandSetting(
      "noInspector", .boolean(\.omitsInspector),
      """
      Do not serve the inspector at /inspector/. It shows the results of the methods admin.… to \
      clients that the policy allows to call them
      """),
    CommandSetting(
      "data", .path(\.data),
      """
      Folder for durable sessions: clients resume them after a crash or a restart of the server. The \
      server creates the folder. Only one server can use it at a time. See waybridge sessions
      """),
    CommandSetting(
      "cluster", .string(\.cluster),
      """
      NATS servers with JetStream that connect the servers of a cluster: \
      nats://[USER:PASSWORD@]HOST[:PORT] or tls://…, separated by commas. Clients can connect to any \
      server of the cluster. NATS stores the sessions, and another server takes over the sessions of \
      a server that ends
      """),
    CommandSetting(
      "clusterName", .string(\.clusterName),
      """
      Name of the cluster: letters, digits, - and _, at most 32. All names in NATS begin with it, so \
      that clusters with different names can use the same NATS servers
      """),
    CommandSetting(
      "clusterReplicas", .integer(\.clusterReplicas, 1...5),
      """
      Number of NATS servers that store each session: 1, 3 or 5. Only the first server of a new \
      cluster uses this setting
      """),
    CommandSetting(
      "clusterSecretFile", .path(\.clusterSecretFile),
      """
      File with the secret that encrypts and authenticates the messages between the servers of the \
      cluster, and stored sessions: at least 32 bytes, the same on all servers. Up to four lines: the \
      first is the secret, the others are accepted too. Only its owner may have access to it. Required \
      with tokens or a policy
      """),
    CommandSetting(
      "clusterCredentials", .path(\.clusterCredentials),
      """
      File with the credentials of a NATS user (.creds), instead of a user and password in --cluster. \
      Only its owner may have access to it
      """),
    CommandSetting(
      "clusterCa", .path(\.clusterCA),
      """
      File with the certificates of the authorities that issue the NATS servers' certificates, as PEM; \
      without it, those of the system. Requires tls://
      """),
    CommandSetting(
      "clusterCertificate", .path(\.clusterCertificate),
      """
      File with the certificate that this server shows to NATS, as PEM. Requires tls:// and \
      --cluster-key
      """),
    CommandSetting(
      "clusterKey", .path(\.clusterKey),
      """
      File with the private key of --cluster-certificate, as PEM. Only its owner may have access to it
      """),
    CommandSetting(
      "loops", .integer(\.loops, 0...256),
      """
      Number of event loops, each a thread with its own connections and sessions; 0 for one per \
      available core
      """),
    CommandSetting(
      "drain", .integer(\.drainTimeout, 0...86_400),
      """
      Seconds in which calls can still complete after SIGTERM; new calls are rejected. A second \
      SIGTERM ends the server at once
      """),
    CommandSetting(
      "conformance", .boolean(\.enablesConformanceMethods),
      """
      Add the JSON-RPC specification's example methods, echo, the task action://echo and an echo \
      of messages at /echo, for tests of clients
      """),
    CommandSetting("url", .string(\.url), "URL of the server"),
    CommandSetting(
      "tokenFile", .path(\.tokenFile),
      "File with the token that opens a session; only its owner may have access to it"),
    CommandSetting("session", .string(\.sessionID), "Id of the session to join"),
    CommandSetting(
      "join", .string(\.joinToken),
      """
      Join token of that session, a secret. Other users of this machine can see the flag, but not \
      the variable
      """),
    CommandSetting(
      "tokenSecretFile", .path(\.tokenSecretFile),
      """
      File with the secret that signs clients' tokens (HS256), at least 32 bytes. Only its owner may \
      have access to it. The server reloads a file that changes. See waybridge token make
      """),
    CommandSetting(
      "tokenKeyFile", .path(\.tokenKeyFile),
      """
      File with the public keys of clients' tokens (EdDSA), as PEM. Only its owner may have access \
      to it. The server reloads a file that changes
      """),
    CommandSetting(
      "tokenJwks", .string(\.tokenKeySetURL),
      """
      URL of an identity provider's public keys (RS256, ES256, EdDSA), its jwks_uri: https://, or \
      http:// for this machine. The server fetches them at the start, every ten minutes, and for a \
      token with an unknown key. Requires --token-issuer
      """),
    CommandSetting(
      "tokenIssuer", .string(\.tokenIssuer),
      "Issuer that clients' tokens must have (iss), exactly as the identity provider writes it"),
    CommandSetting(
      "tokenAudience", .string(\.tokenAudience), "Audience that clients' tokens must have (aud)"),
    CommandSetting(
      "tokenGroupsClaim", .string(\.tokenGroupsClaim),
      """
      Claim with the groups of a token's user. If there is none of this name, dots lead into objects, \
      as in realm_access.roles
      """),
    CommandSetting(
      "allowAnonymous", .boolean(\.allowsAnonymous),
      """
      Accept clients without a token, without an identity, and allow --host to be any address. Other \
      machines can then make every call that the policy allows to all clients
      """),
    CommandSetting(
      "log.level", .choice(\.logLevel, Logger.Level.allCases.map(\.rawValue)),
      """
      Lowest level of the log on standard error: trace, debug (every call), info (sessions, start \
      and end), notice, warning (rejections, slow clients, silent hosts), error or critical
      """),
    CommandSetting(
      "log.format", .choice(\.logFormat, LogFormat.allCases.map(\.rawValue)),
      "Format of the log: text, or json with one object a line"),
    CommandSetting("limits.maxMessage", .count(\.limits.maxMessage), "Bytes of one message"),
    CommandSetting(
      "limits.maxAnswer", .count(\.limits.maxAnswer),
      "Bytes of one response, or of all responses of a batch"),
    CommandSetting("limits.maxBatch", .count(\.limits.maxBatch), "Messages in one batch"),
    CommandSetting(
      "limits.maxDepth", .count(\.limits.maxDepth), "Levels of arrays and objects in one message"),
    CommandSetting(
      "limits.maxValues", .count(\.limits.maxValues), "Values in one message, approximately"),
    CommandSetting(
      "limits.maxInFlight", .count(\.limits.maxInFlight),
      "Calls of one client that wait for a response"),
    CommandSetting(
      "limits.maxHosts", .count(\.limits.maxHosts),
      "Host registrations of one client, and patterns in one of them"),
    CommandSetting(
      "limits.maxPatterns", .count(\.limits.maxPatterns),
      "Patterns in the host registrations of one session"),
    CommandSetting("limits.maxClients", .count(\.limits.maxClients), "Clients in one session"),
    CommandSetting(
      "limits.maxSubscriptions", .count(\.limits.maxSubscriptions),
      "Topics that one client can subscribe to"),
    CommandSetting(
      "limits.maxLinks", .count(\.limits.maxLinks),
      "Deep links that wait in one session, or for future sessions"),
    CommandSetting("limits.maxTopic", .count(\.limits.maxTopic), "Bytes of one topic"),
    CommandSetting(
      "limits.maxBacklog", .count(\.limits.maxBacklog),
      "Bytes queued for a client at the time of an event"),
    CommandSetting("limits.maxExts", .count(\.limits.maxExts), "Bytes of the exts of one call"),
    CommandSetting(
      "limits.maxStackBytes", .count(\.limits.maxStackBytes),
      "Bytes of the URIs, params and exts of one session's pages"),
    CommandSetting(
      "limits.maxQueueBytes", .count(\.limits.maxQueueBytes), "Bytes queued for one client"),
    CommandSetting(
      "limits.maxClientBytes", .count(\.limits.maxClientBytes),
      "Bytes held for one client: calls, patterns, deep links and its queue"),
    CommandSetting(
      "limits.maxSessionBytes", .count(\.limits.maxSessionBytes),
      "Bytes held for the clients and pages of one session"),
    CommandSetting(
      "limits.maxServerBytes", .count(\.limits.maxServerBytes), "Bytes held for all sessions"),
    CommandSetting(
      "limits.maxRate", .integer(\.limits.maxRate, 0...1_000_000_000),
      "Calls a second of one client; 0, or --conformance, for any number"),
    CommandSetting(
      "limits.maxBurst", .count(\.limits.maxBurst),
      "Calls that one client can make at once after a pause"),
    CommandSetting(
      "limits.maxOutbox", .count(\.limits.maxOutbox),
      "Bytes of messages that one client has not acknowledged"),
    CommandSetting(
      "limits.maxOutboxMessages", .count(\.limits.maxOutboxMessages),
      "Messages that one client has not acknowledged"),
    CommandSetting(
      "limits.maxOutboxBytes", .count(\.limits.maxOutboxBytes),
      "Bytes of messages that all clients have not acknowledged"),
    CommandSetting(
      "limits.maxKeys", .count(\.limits.maxKeys),
      "Stored results of one session's calls with an idempotency key"),
    CommandSetting("limits.maxSessions", .count(\.limits.maxSessions), "Sessions"),
    CommandSetting(
      "limits.maxConnections", .count(\.limits.maxConnections), "Connections of any kind"),
    CommandSetting(
      "limits.maxUnauthenticated", .count(\.limits.maxUnauthenticated),
      "Connections whose clients are not authenticated"),
    CommandSetting(
      "limits.maxReserved", .count(\.limits.maxReserved),
      "Connections and sessions of administrators beyond the limits of all"),
    CommandSetting(
      "limits.maxAddressConnections", .integer(\.limits.maxAddressConnections, 0...1 << 30),
      "Connections of one address of another machine; 0 for any number"),
    CommandSetting(
      "limits.maxAddressRate", .integer(\.limits.maxAddressRate, 0...1 << 30),
      "Connections a second of one address of another machine; 0 for any number"),
    CommandSetting(
      "limits.maxUserConnections", .integer(\.limits.maxUserConnections, 0...1 << 30),
      "Connections of one user; 0 for any number"),
    CommandSetting(
      "limits.maxUserRate", .integer(\.limits.maxUserRate, 0...1 << 30),
      "Connections a second of one user; 0 for any number"),
    CommandSetting(
      "limits.maxUserSessions", .integer(\.limits.maxUserSessions, 0...1 << 30),
      "Sessions of one user; 0 for any number"),
    CommandSetting(
      "limits.maxHello", .count(\.limits.maxHello),
      "Bytes of a message of a client that is not authenticated yet"),
    CommandSetting(
      "limits.maxHead", .count(\.limits.maxHead),
      "Bytes of the header fields of an HTTP request, with the cookies and the first line"),
    CommandSetting(
      "limits.pingMs", .milliseconds(\.limits.ping),
      "Milliseconds of silence before the server sends a client a ping"),
    CommandSetting(
      "limits.silenceMs", .milliseconds(\.limits.silence),
      "Milliseconds of silence before the server closes a connection"),
    CommandSetting(
      "limits.resumeMs", .milliseconds(\.limits.resume),
      "Milliseconds in which a client can resume after a lost connection"),
    CommandSetting(
      "limits.helloMs", .milliseconds(\.limits.hello),
      "Milliseconds in which a client must send session.open"),
    CommandSetting(
      "limits.pageOpenMs", .milliseconds(\.limits.pageOpen),
      "Milliseconds in which a host must respond to page.open"),
  ]
}
