import Glibc
import WaySession
import WaySockets

extension BridgeConfiguration {
  /// The limits that apply: clamped to their ranges. If conformance methods are enabled, as many
  /// connections and calls as possible are allowed, for tests of clients.
  package var effectiveLimits: Limits {
    var limits = limits.clamped
    if enablesConformanceMethods, let descriptors = ServerProcessDescriptors.limit {
      limits.maxConnections = descriptors
      limits.maxSessions = descriptors
      limits.maxRate = 0
      limits.maxUnauthenticated = descriptors
      limits.maxAddressConnections = 0
      limits.maxAddressRate = 0
      limits.maxUserConnections = 0
      limits.maxUserRate = 0
      limits.maxUserSessions = 0
    }
    return limits
  }

  /// The access rules of this configuration and a policy. Throws if a string is invalid.
  func accessRules(for policy: Policy) throws(SocketError) -> AccessRules {
    try AccessRules(
      hosts: network.allowedHosts + policy.hosts, origins: network.allowedOrigins + policy.origins,
      trustedProxies: network.trustedProxies)
  }

  /// The configuration of the server's sockets.
  package func socketConfiguration() throws(SocketError) -> SocketServerConfiguration {
    var sockets = SocketServerConfiguration()
    sockets.network = network
    sockets.web = web
    sockets.limits = effectiveLimits
    sockets.authenticatesClients = sessions.identify != nil
    sockets.allowsRemoteClients = sockets.authenticatesClients || sessions.allowsAnonymous
    sockets.descriptor = systemdNotifier?.listeningDescriptor
    sockets.access = try accessRules(for: sessions.policy)
    sockets.openPaths = [BridgeResponder.healthPath]
    sockets.folderPolicies = [WebInspector.folder: WebInspector.contentSecurityPolicy]
    sockets.embeddedFiles = embeddedFiles
    return sockets
  }

  /// The files of the client and of the inspector, unless the web root contains a folder of the
  /// same name.
  package var embeddedFiles: [String: HTTPEmbeddedFile] {
    guard web.servesClient else { return [:] }
    var files = webRootContains(EmbeddedWebClient.folder) ? [:] : EmbeddedWebClient.files
    if web.servesInspector, !webRootContains(WebInspector.folder) {
      files.merge(WebInspector.files) { first, _ in first }
    }
    return files
  }

  /// Whether the web root serves a folder of this name.
  private func webRootContains(_ folder: String) -> Bool {
    guard let root = web.root, web.entries?.contains(folder) ?? true else { return false }
    var status = stat()
    return stat(root + "/" + folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
