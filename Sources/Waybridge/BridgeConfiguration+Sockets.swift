import Glibc
import WaySockets

extension BridgeConfiguration {
  /// What the server's sockets are told.
  package var sockets: SocketServerConfiguration {
    var sockets = SocketServerConfiguration(host: host, port: port, webRoot: webRoot)
    if conformance {
      sockets.maximumConnections = Self.descriptorLimit ?? sockets.maximumConnections
    }
    return sockets
  }

  /// How many descriptors the process may have open (getrlimit, RLIMIT_NOFILE).
  private static var descriptorLimit: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return Int(clamping: limit.rlim_cur)
  }
}
