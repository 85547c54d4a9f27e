import ArgumentParser
import Logging
import Waybridge

/// Settings of one topic. A new setting is a row here, and is read where it is used.
protocol CommandSettingGroup {
  static var settings: [CommandSetting] { get }
}

extension CommandSetting {
  /// Every setting.
  static let all: [CommandSetting] = [
    NetworkSettings.settings,
    AccessSettings.settings,
    TokenSettings.settings,
    TableSettings.settings,
    DurabilitySettings.settings,
    PushSettings.settings,
    WebFileSettings.settings,
    ProcessSettings.settings,
    LogSettings.settings,
    ServerSettings.settings,
    SessionSettings.settings, LimitSettings.settings,
  ].flatMap(\.self)

  /// The setting with a key.
  static func named(_ key: String) -> CommandSetting? { all.first { $0.key == key } }
}

/// The address of `serve`.
enum NetworkSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "host", .string(\.bridge.network.host), completion: .list(["127.0.0.1", "localhost", "::1"]),
      """
      Address to listen on; localhost for 127.0.0.1 and ::1, 0.0.0.0 for all IPv4 addresses, :: for \
      all addresses. Other addresses than 127.0.0.1, localhost and ::1 require tokens or \
      --allow-anonymous
      """),
    CommandSetting(
      "port", .integer(\.bridge.network.port, 0...65_535),
      "Port to listen on; 0 selects a free port"),
    CommandSetting(
      "unix", .path(\.bridge.network.unixPath), value: "path", completion: .file(),
      """
      Path of a Unix socket to listen on, instead of host and port. Only programs of the same user \
      can connect. The first line of output is then "listening on http+unix://PATH", with the path \
      percent-encoded
      """),
    CommandSetting(
      "prefix", .validatedString(\.bridge.network.prefix, .prefix), value: "path",
      "Path below which everything is served, such as /app; clients then connect to /app/bridge"),
  ]
}

/// The clients that `serve` and `demo` accept.
enum AccessSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "allowOrigin", .strings(\.bridge.network.allowedOrigins, .origin), value: "origin",
      """
      Origins of pages to accept, in addition to the server's own: https://app.example.org, with * \
      for any port or for the first label of the host, or null for pages without an origin
      """),
    CommandSetting(
      "allowHost", .strings(\.bridge.network.allowedHosts, .host), value: "name",
      """
      Names of the server, in addition to 127.0.0.1, localhost and [::1], as NAME or NAME:PORT. \
      Pages that are loaded from these names are accepted
      """),
    CommandSetting(
      "trustedProxy", .strings(\.bridge.network.trustedProxies, .proxy), value: "address",
      """
      Proxies that report the address of their client: IPv4, IPv6, networks such as 10.0.0.0/8, or \
      unix for programs that use the Unix socket. The server rejects other proxies
      """),
  ]
}

/// The tokens of clients.
enum TokenSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "tokenSecretFile", .path(\.tokenSecretFile), value: "file", completion: .file(),
      """
      File with the secret that signs clients' tokens (HS256), at least 32 bytes. Only its owner may \
      have access to it. The server reloads a file that changes. See waybridge token make
      """),
    CommandSetting(
      "tokenKeyFile", .path(\.tokenKeyFile), value: "file", completion: .file(),
      """
      File with the public keys of clients' tokens (EdDSA), as PEM. Only its owner may have access \
      to it. The server reloads a file that changes
      """),
    CommandSetting(
      "tokenJwks", .string(\.tokenKeySetURL), value: "url",
      """
      URL of an identity provider's public keys (RS256, ES256, EdDSA), its jwks_uri: https://, or \
      http:// for this machine. The server fetches them at the start, every ten minutes, and for a \
      token with an unknown key. Requires --token-issuer
      """),
    CommandSetting(
      "tokenIssuer", .string(\.tokenIssuer), value: "issuer",
      "Issuer that clients' tokens must have (iss), exactly as the identity provider writes it"),
    CommandSetting(
      "tokenAudience", .string(\.tokenRules.audience), value: "name",
      "Audience that clients' tokens must have (aud)"),
    CommandSetting(
      "tokenGroupsClaim", .string(\.tokenRules.groupsClaim), value: "claim",
      """
      Claim with the groups of a token's user. If there is none of this name, dots lead into objects, \
      as in realm_access.roles
      """),
    CommandSetting(
      "allowAnonymous", .boolean(\.bridge.sessions.allowsAnonymous),
      """
      Accept clients without a token, without an identity, and allow --host to be any address. Other \
      machines can then make every call that the policy allows to all clients
      """),
  ]
}

/// The route table and the policy.
enum TableSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "table", .path(\.table), value: "file", completion: .json,
      """
      Route table: a JSON file, or an https:// URL (http:// for this machine). The server reloads a \
      file that changes, and fetches a URL repeatedly
      """),
    CommandSetting(
      "tableCache", .path(\.tableCache), value: "dir", completion: .directory,
      """
      Folder for the last valid table of each URL, used while the URL cannot be fetched; without it \
      ~/.cache/waybridge/tables
      """),
    CommandSetting(
      "tableInterval", .seconds(\.tableInterval, 1...86_400), value: "seconds",
      "Seconds until a table with a URL is fetched again"),
    CommandSetting(
      "checkResults", .choice(\.checkResults, ResultCheck.allCases.map(\.rawValue)), value: "mode",
      """
      What happens to a result that does not fit the route table: reject (the call fails with 2502, \
      and a page that would close stays open) or log (the caller gets it). Both log and count it
      """),
    CommandSetting(
      "policy", .path(\.bridge.sessions.policyFile), value: "file", completion: .json,
      """
      Policy: a JSON file with the origins and hosts to accept, and the calls to allow. The server \
      reloads a file that changes
      """),
  ]
}

/// The push service for users that are away.
enum PushSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "pushWebhook", .string(\.pushWebhookURL), value: "url",
      """
      URL of a service that receives each push for a session or user without a connected client: \
      https://, or http:// for this machine. The server sends it JSON with POST, signed as Standard \
      Webhooks specifies, and tries again for about a minute. Requires --push-webhook-secret-file
      """),
    CommandSetting(
      "pushWebhookSecretFile", .path(\.pushWebhookSecretFile), value: "file", completion: .file(),
      """
      File with the secret that signs these messages, whsec_ and 24 to 64 bytes as base64; up to four \
      lines, each of which signs. Only its owner may have access to it
      """),
  ]
}

/// Durable sessions and the cluster.
enum DurabilitySettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "data", .path(\.data), value: "dir", completion: .directory,
      """
      Folder for durable sessions: clients resume them after a crash or a restart of the server. The \
      server creates the folder. Only one server can use it at a time. See waybridge sessions
      """),
    CommandSetting(
      "blobs", .path(\.bridge.blobs.folder), value: "dir", completion: .directory,
      """
      Folder for blobs, the data that clients send to /blobs. The server creates the folder. Only one \
      server can use it at a time. Without it, the folder blobs in that of --data, or a temporary \
      folder. With --cluster, blobs are in NATS, and the folder is not used
      """),
    CommandSetting(
      "noBlobs", .boolean(\.bridge.blobs.isEnabled, isInverted: true),
      """
      Store no blobs, neither in a folder nor in a cluster's NATS
      """),
    CommandSetting(
      "cluster", .string(\.cluster.url), value: "url",
      """
      NATS servers with JetStream that connect the servers of a cluster: \
      nats://[USER:PASSWORD@]HOST[:PORT] or tls://…, separated by commas. Clients can connect to any \
      server of the cluster. NATS stores the sessions, and another server takes over the sessions of \
      a server that ends
      """),
    CommandSetting(
      "clusterName", .string(\.cluster.name), value: "name",
      """
      Name of the cluster: letters, digits, - and _, at most 32. All names in NATS begin with it, so \
      that clusters with different names can use the same NATS servers
      """),
    CommandSetting(
      "clusterReplicas", .integer(\.cluster.replicas, 1...5), value: "n",
      """
      Number of NATS servers that store each session: 1, 3 or 5. Only the first server of a new \
      cluster uses this setting
      """),
    CommandSetting(
      "clusterSecretFile", .path(\.cluster.secretFile), value: "file", completion: .file(),
      """
      File with the secret that encrypts and authenticates the messages between the servers of the \
      cluster, and stored sessions: at least 32 bytes, the same on all servers. Up to four lines: the \
      first is the secret, the others are accepted too. Only its owner may have access to it. Required \
      with tokens or a policy
      """),
    CommandSetting(
      "clusterCredentials", .path(\.cluster.credentialsFile), value: "file", completion: .file(),
      """
      File with the credentials of a NATS user (.creds), instead of a user and password in --cluster. \
      Only its owner may have access to it
      """),
    CommandSetting(
      "clusterCa", .path(\.cluster.authorityFile), value: "file", completion: .file(),
      """
      File with the certificates of the authorities that issue the NATS servers' certificates, as PEM; \
      without it, those of the system. Requires tls://
      """),
    CommandSetting(
      "clusterCertificate", .path(\.cluster.certificateFile), value: "file", completion: .file(),
      """
      File with the certificate that this server shows to NATS, as PEM. Requires tls:// and \
      --cluster-key
      """),
    CommandSetting(
      "clusterKey", .path(\.cluster.keyFile), value: "file", completion: .file(),
      """
      File with the private key of --cluster-certificate, as PEM. Only its owner may have access to it
      """),
  ]
}

/// The files that `serve` serves.
enum WebFileSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "web", .path(\.bridge.web.root), value: "dir", completion: .directory,
      "Folder of files to serve at /; without it, the web files that come with Waybridge"),
    CommandSetting(
      "contentSecurityPolicy", .string(\.bridge.web.contentSecurityPolicy), value: "policy",
      "Content security policy of the served files; empty for none"),
    CommandSetting(
      "noClient", .boolean(\.bridge.web.servesClient, isInverted: true),
      """
      Do not serve the JavaScript client at /bridge/. If --web has a folder "bridge", the server \
      serves that folder in any case
      """),
    CommandSetting(
      "noInspector", .boolean(\.bridge.web.servesInspector, isInverted: true),
      """
      Do not serve the inspector at /inspector/. It shows the results of the methods admin.… to \
      clients that the policy allows to call them
      """),
  ]
}

/// The threads and the end of `serve`, and its methods for tests.
enum ProcessSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "loops", .integer(\.bridge.loops, 0...256), value: "n",
      """
      Number of event loops, each a thread with its own connections and sessions; 0 for one per \
      available core
      """),
    CommandSetting(
      "drain", .seconds(\.bridge.drainTimeout, 0...86_400), value: "seconds",
      """
      Seconds in which calls can still complete after SIGTERM; new calls are rejected. A second \
      SIGTERM ends the server at once
      """),
    CommandSetting(
      "conformance", .boolean(\.bridge.enablesConformanceMethods),
      """
      Add the JSON-RPC specification's example methods, echo, the task action://echo and an echo \
      of messages at /echo, for tests of clients
      """),
  ]
}

/// The log of `serve` and `demo` on standard error.
enum LogSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "log.level", .choice(\.logLevel, Logger.Level.allCases.map(\.rawValue)), value: "level",
      """
      Lowest level of the log on standard error: trace, debug (every call), info (sessions, start \
      and end), notice, warning (rejections, slow clients, silent hosts), error or critical
      """),
    CommandSetting(
      "log.format", .choice(\.logFormat, LogFormat.allCases.map(\.rawValue)), value: "format",
      "Format of the log: text, or json with one object a line"),
  ]
}

/// The server of a client command.
enum ServerSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "url", .string(\.url),
      "URL of the server"),
    CommandSetting(
      "tokenFile", .path(\.tokenFile), value: "file", completion: .file(),
      "File with the token that opens a session; only its owner may have access to it"),
  ]
}

/// The session that a client joins.
enum SessionSettings: CommandSettingGroup {
  static let settings = [
    CommandSetting(
      "session", .string(\.sessionID), value: "id",
      "Id of the session to join"),
    // A token may begin with a hyphen.
    CommandSetting(
      "join", .string(\.joinToken), value: "token", parsing: .unconditional,
      """
      Join token of that session, a secret. Other users of this machine can see the flag, but not \
      the variable
      """),
  ]
}

/// The limits, which have no flags.
enum LimitSettings: CommandSettingGroup {
  static let settings = Limits.definitions.map { limit in
    CommandSetting("limits.\(limit.name)", .limit(limit.property), limit.help)
  }
}
