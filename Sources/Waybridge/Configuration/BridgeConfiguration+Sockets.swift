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
      hosts: allowedHosts + policy.hosts, origins: allowedOrigins + policy.origins,
      trustedProxies: trustedProxies)
  }

  /// The configuration of the server's sockets.
  package func socketConfiguration() throws(SocketError) -> SocketServerConfiguration {
    let limits = effectiveLimits
    var sockets = SocketServerConfiguration(host: host, port: port, webRoot: webRoot)
    sockets.unixPath = unixPath
    sockets.descriptor = systemdNotifier?.listeningDescriptor
    sockets.prefix = prefix
    sockets.access = try accessRules(for: policy)
    sockets.allowsRemoteClients = identify != nil || allowsAnonymous
    sockets.openPaths = [BridgeResponder.healthPath]
    sockets.handshakeHeaders = handshakeHeaders
    sockets.contentSecurityPolicy = contentSecurityPolicy
    sockets.folderPolicies = [WebInspector.folder: WebInspector.contentSecurityPolicy]
    sockets.maximumConnections = limits.maxConnections
    sockets.maximumReserved = limits.maxReserved
    sockets.maximumUnadmitted = identify == nil ? nil : limits.maxUnauthenticated
    sockets.maximumPerAddress = limits.maxAddressConnections
    sockets.maximumAddressRate = limits.maxAddressRate
    sockets.maximumHead = limits.maxHead
    sockets.maximumHeads = min(sockets.maximumHeads, limits.maxServerBytes)
    sockets.maximumBuffered = limits.maxQueueBytes
    sockets.maximumBufferedTotal = limits.maxServerBytes
    sockets.maximumUnfinishedTotal = limits.maxServerBytes
    sockets.maximumBodies = min(sockets.maximumBodies, limits.maxServerBytes)
    sockets.ping = limits.ping
    sockets.silence = limits.silence
    sockets.embeddedFiles = embeddedFiles
    return sockets
  }

  /// The files of the client and of the inspector, unless the web root contains a folder of the
  /// same name.
  package var embeddedFiles: [String: HTTPEmbeddedFile] {
    guard servesClient else { return [:] }
    var files = webRootContains(EmbeddedWebClient.folder) ? [:] : EmbeddedWebClient.files
    if servesInspector, !webRootContains(WebInspector.folder) {
      files.merge(WebInspector.files) { first, _ in first }
    }
    return files
  }

  /// Whether the web root serves a folder of this name.
  private func webRootContains(_ folder: String) -> Bool {
    guard let webRoot, webEntries?.contains(folder) ?? true else { return false }
    var status = stat()
    return stat(webRoot + "/" + folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
