import WaySockets

/// The address that a bridge listens on.
public struct BridgeServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address as in a URL, an IPv6 address in brackets; `localhost` if the bridge listens on
  /// `127.0.0.1` and `::1`, and for a Unix socket.
  public let host: String
  /// The bound port, also if port 0 was requested; 0 for a Unix socket.
  public let port: Int
  /// The absolute path of the Unix socket; nil over TCP.
  public let unixPath: String?

  init(_ address: SocketListenAddress) {
    host = address.host
    port = address.port
    unixPath = address.unixPath
  }

  /// `http://HOST:PORT`, or `http+unix://` and the path, percent-encoded with its slashes.
  public var description: String {
    guard let unixPath else { return "http://\(host):\(port)" }
    let path = unixPath.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return "http+unix://" + path.joined()
  }
}
