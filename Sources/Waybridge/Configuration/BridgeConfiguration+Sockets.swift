import Glibc
import WaySession
import WaySockets

extension BridgeConfiguration {
  /// The limits as they are kept: within their ranges, and for tests of clients as many connections
  /// and calls as can be.
  package var keptLimits: Limits {
    var limits = limits.inRange
    if conformance, let descriptors = ProcessDescriptors.limit {
      limits.maxConnections = descriptors
      limits.maxSessions = descriptors
      limits.maxRate = 0
    }
    return limits
  }

  /// Who comes in by this and by a policy; throws where a text says nothing of that.
  func access(by policy: Policy) throws(SocketError) -> AccessRules {
    try AccessRules(
      hosts: allowedHosts + policy.hosts, origins: allowedOrigins + policy.origins,
      trustedProxies: trustedProxies)
  }

  /// What the server's sockets are told.
  package func sockets() throws(SocketError) -> SocketServerConfiguration {
    let limits = keptLimits
    var sockets = SocketServerConfiguration(host: host, port: port, webRoot: webRoot)
    sockets.unixPath = unixPath
    sockets.descriptor = serviceManager?.listeningDescriptor
    sockets.prefix = prefix
    sockets.access = try access(by: policy)
    sockets.allowsOthers = identify != nil || allowsAnonymous
    sockets.openPaths = [BridgeResponder.healthPath]
    sockets.handshakeHeaders = handshakeHeaders
    sockets.contentSecurityPolicy = contentSecurityPolicy
    sockets.maximumConnections = limits.maxConnections
    sockets.maximumBuffered = limits.maxQueueBytes
    sockets.maximumBufferedTotal = limits.maxServerBytes
    sockets.maximumBodies = min(sockets.maximumBodies, limits.maxServerBytes)
    sockets.ping = limits.ping
    sockets.silence = limits.silence
    sockets.embeddedFiles = embeddedFiles
    return sockets
  }

  /// The files of the client and of the inspector, unless the folder has some of its own at their
  /// place.
  package var embeddedFiles: [String: HTTPEmbeddedFile] {
    guard servesClient else { return [:] }
    var files = hasOwn(EmbeddedWebClient.folder) ? [:] : EmbeddedWebClient.files
    if servesInspector, !hasOwn(WebInspector.folder) {
      files.merge(WebInspector.files) { first, _ in first }
    }
    return files
  }

  /// Whether the folder that is served has one of a name.
  private func hasOwn(_ folder: String) -> Bool {
    guard let webRoot, webEntries?.contains(folder) ?? true else { return false }
    var status = stat()
    return stat(webRoot + "/" + folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
