import CWayNATS
import Glibc

/// The options of connections to NATS, and of reconnections.
enum NATSOptions {
  /// How often a connection is tried whose signature cannot be sent: one in 256.
  private static let maxAttempts = 8

  /// Connects to NATS (natsConnection_Connect).
  static func connect(_ connection: inout OpaquePointer?, _ options: OpaquePointer) -> natsStatus {
    attempt { natsConnection_Connect(&connection, options) }
  }

  /// Repeats an attempt to connect whose signature could not be sent.
  static func attempt(_ connect: () -> natsStatus) -> natsStatus {
    var status = connect()
    for _ in 1..<maxAttempts where status == NATSCredentialsFile.unsendableSignature {
      status = connect()
    }
    return status
  }

  /// Creates options for the nats-servers, or for those with the given URLs. The caller calls `natsOptions_Destroy` for them. Throws
  /// an error that names the invalid setting.
  static func make(
    _ configuration: NATSClusterConfiguration, urls: [String]? = nil
  ) throws(NATSClusterError) -> OpaquePointer {
    let address = configuration.address
    var options: OpaquePointer?
    func check(_ status: natsStatus, _ operation: String) throws(NATSClusterError) {
      guard status != NATS_OK else { return }
      natsOptions_Destroy(options)
      throw NATSClusterError(address.endpoint, operation, status)
    }
    try check(natsOptions_Create(&options), "the connection cannot be created")
    let engines = (urls ?? address.urls).map { strdup($0) }
    defer { for engine in engines { free(engine) } }
    var pointers = engines.map { UnsafePointer($0) }
    for status in [
      natsOptions_SetServers(options, &pointers, Int32(pointers.count)),
      natsOptions_SetSecure(options, address.isSecure),
      setCredentials(options, configuration),
      natsOptions_SetName(options, "waybridge"),
      natsOptions_SetCustomInboxPrefix(options, configuration.names.inboxPrefix),
      natsOptions_SetTimeout(options, 2_000), natsOptions_SetMaxReconnect(options, -1),
      natsOptions_SetReconnectWait(options, 250),
      natsOptions_SetFailRequestsOnDisconnect(options, true),
      natsOptions_SetPingInterval(options, 2_000), natsOptions_SetMaxPingsOut(options, 2),
      // A nats-server that does not read counts as lost.
      natsOptions_SetWriteDeadline(options, 4_000),
      // No messages are buffered during a reconnection: they would be reported as sent, but lost
      // with the process.
      natsOptions_SetReconnectBufSize(options, 0),
    ] { try check(status, "the address is invalid") }
    if let authorities = configuration.authorities {
      try check(
        natsOptions_SetCATrustedCertificates(options, authorities),
        "the CA file holds no valid certificates")
    }
    if let (chain, key) = configuration.certificate {
      try check(
        natsOptions_SetCertificatesChain(options, chain, key),
        "the certificate and the key do not belong together, or are invalid")
    }
    guard let options else {
      throw NATSClusterError(address.endpoint, "the connection cannot be created")
    }
    return options
  }

  private static func setCredentials(
    _ options: OpaquePointer?, _ configuration: NATSClusterConfiguration
  ) -> natsStatus {
    if let file = configuration.credentialsFile { return file.apply(to: options) }
    return switch (configuration.address.user, configuration.address.password) {
    case (let user?, let password?): natsOptions_SetUserInfo(options, user, password)
    case (let token?, nil): natsOptions_SetToken(options, token)
    case (nil, _): NATS_OK
    }
  }
}
