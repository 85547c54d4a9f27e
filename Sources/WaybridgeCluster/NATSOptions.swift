import CWayNATS
import Glibc

/// How connections to the engine are made, and made again.
enum NATSOptions {
  /// Options for the engines, which `natsOptions_Destroy` is to be called for in any case.
  static func make(_ options: inout OpaquePointer?, _ address: NATSAddress) -> natsStatus {
    let made = natsOptions_Create(&options)
    guard made == NATS_OK else { return made }
    let engines = address.urls.map { strdup($0) }
    defer { for engine in engines { free(engine) } }
    var pointers = engines.map { UnsafePointer($0) }
    for status in [
      natsOptions_SetServers(options, &pointers, Int32(pointers.count)),
      natsOptions_SetSecure(options, address.isSecure),
      identify(options, address),
      natsOptions_SetName(options, "waybridge"),
      natsOptions_SetTimeout(options, 2_000), natsOptions_SetMaxReconnect(options, -1),
      natsOptions_SetReconnectWait(options, 250),
      natsOptions_SetFailRequestsOnDisconnect(options, true),
      natsOptions_SetPingInterval(options, 2_000), natsOptions_SetMaxPingsOut(options, 2),
      // An engine that takes nothing is one that is gone.
      natsOptions_SetWriteDeadline(options, 4_000),
      // Said to be sent and lost with the process it would be of no use.
      natsOptions_SetReconnectBufSize(options, 0),
    ] where status != NATS_OK { return status }
    return NATS_OK
  }

  private static func identify(
    _ options: OpaquePointer?, _ address: NATSAddress
  ) -> natsStatus {
    switch (address.user, address.password) {
    case (let user?, let password?): natsOptions_SetUserInfo(options, user, password)
    case (let token?, nil): natsOptions_SetToken(options, token)
    case (nil, _): NATS_OK
    }
  }
}
