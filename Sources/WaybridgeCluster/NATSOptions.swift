import CWayNATS
import Glibc

/// The options of connections to NATS, and of reconnections.
enum NATSOptions {
  /// Creates options for the nats-servers. The caller calls `natsOptions_Destroy` for them in any
  /// case.
  static func make(_ options: inout OpaquePointer?, _ address: NATSAddress) -> natsStatus {
    let status = natsOptions_Create(&options)
    guard status == NATS_OK else { return status }
    let engines = address.urls.map { strdup($0) }
    defer { for engine in engines { free(engine) } }
    var pointers = engines.map { UnsafePointer($0) }
    for status in [
      natsOptions_SetServers(options, &pointers, Int32(pointers.count)),
      natsOptions_SetSecure(options, address.isSecure),
      setCredentials(options, address),
      natsOptions_SetName(options, "waybridge"),
      natsOptions_SetTimeout(options, 2_000), natsOptions_SetMaxReconnect(options, -1),
      natsOptions_SetReconnectWait(options, 250),
      natsOptions_SetFailRequestsOnDisconnect(options, true),
      natsOptions_SetPingInterval(options, 2_000), natsOptions_SetMaxPingsOut(options, 2),
      // A nats-server that does not read counts as lost.
      natsOptions_SetWriteDeadline(options, 4_000),
      // No messages are buffered during a reconnection: they would be reported as sent, but lost
      // with the process.
      natsOptions_SetReconnectBufSize(options, 0),
    ] where status != NATS_OK { return status }
    return NATS_OK
  }

  private static func setCredentials(
    _ options: OpaquePointer?, _ address: NATSAddress
  ) -> natsStatus {
    switch (address.user, address.password) {
    case (let user?, let password?): natsOptions_SetUserInfo(options, user, password)
    case (let token?, nil): natsOptions_SetToken(options, token)
    case (nil, _): NATS_OK
    }
  }
}
