import ArgumentParser

/// The flags for the address of `serve`.
struct NetworkOptions: ParsableArguments {
  @Option(help: .setting("host"), completion: .list(["127.0.0.1", "localhost", "::1"]))
  var host: String?

  @Option(help: .setting("port"), completion: .nothing)
  var port: String?

  @Option(help: .setting("unix", valueName: "path"), completion: .file())
  var unix: String?

  @Option(help: .setting("prefix", valueName: "path"), completion: .nothing)
  var prefix: String?
}

/// The flags for the tokens of clients.
struct TokenOptions: ParsableArguments {
  @Option(help: .setting("tokenSecretFile", valueName: "file"), completion: .file())
  var tokenSecretFile: String?

  @Option(help: .setting("tokenKeyFile", valueName: "file"), completion: .file())
  var tokenKeyFile: String?

  @Option(help: .setting("tokenJwks", valueName: "url"), completion: .nothing)
  var tokenJwks: String?

  @Option(help: .setting("tokenIssuer", valueName: "issuer"), completion: .nothing)
  var tokenIssuer: String?

  @Option(help: .setting("tokenAudience", valueName: "name"), completion: .nothing)
  var tokenAudience: String?

  @Option(help: .setting("tokenGroupsClaim", valueName: "claim"), completion: .nothing)
  var tokenGroupsClaim: String?

  @Flag(help: .setting("allowAnonymous"))
  var allowAnonymous = false
}

/// The flags for the route table and the policy of `serve`.
struct TableOptions: ParsableArguments {
  @Option(help: .setting("table", valueName: "file"), completion: .json)
  var table: String?

  @Option(help: .setting("tableCache", valueName: "dir"), completion: .directory)
  var tableCache: String?

  @Option(help: .setting("tableInterval", valueName: "seconds"), completion: .nothing)
  var tableInterval: String?

  @Option(help: .setting("policy", valueName: "file"), completion: .json)
  var policy: String?
}

/// The flags for durable sessions and the cluster.
struct DurabilityOptions: ParsableArguments {
  @Option(help: .setting("data", valueName: "dir"), completion: .directory)
  var data: String?

  @Option(help: .setting("cluster", valueName: "url"), completion: .nothing)
  var cluster: String?

  @Option(help: .setting("clusterName", valueName: "name"), completion: .nothing)
  var clusterName: String?

  @Option(help: .setting("clusterReplicas", valueName: "n"), completion: .nothing)
  var clusterReplicas: String?

  @Option(help: .setting("clusterSecretFile", valueName: "file"), completion: .file())
  var clusterSecretFile: String?

  @Option(help: .setting("clusterCredentials", valueName: "file"), completion: .file())
  var clusterCredentials: String?

  @Option(help: .setting("clusterCa", valueName: "file"), completion: .file())
  var clusterCa: String?

  @Option(help: .setting("clusterCertificate", valueName: "file"), completion: .file())
  var clusterCertificate: String?

  @Option(help: .setting("clusterKey", valueName: "file"), completion: .file())
  var clusterKey: String?
}

/// The flags for the files that `serve` serves.
struct WebOptions: ParsableArguments {
  @Option(help: .setting("web", valueName: "dir"), completion: .directory)
  var web: String?

  @Option(
    help: .setting("contentSecurityPolicy", valueName: "policy"), completion: .nothing)
  var contentSecurityPolicy: String?

  @Flag(help: .setting("noClient"))
  var noClient = false

  @Flag(help: .setting("noInspector"))
  var noInspector = false
}

/// The flags for the threads and the end of `serve`, and for tests.
struct ProcessOptions: ParsableArguments {
  @Option(help: .setting("loops", valueName: "n"), completion: .nothing)
  var loops: String?

  @Option(help: .setting("drain", valueName: "seconds"), completion: .nothing)
  var drain: String?

  @Flag(help: .setting("conformance"))
  var conformance = false
}
