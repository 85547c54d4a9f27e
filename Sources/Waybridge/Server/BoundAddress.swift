import WaySockets

/// Where a bridge listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address as a URL has it, an IPv6 address in brackets; `localhost` for a Unix socket.
  public let host: String
  /// The port that was taken, also where 0 was asked for; 0 for a Unix socket.
  public let port: Int
  /// The path of the Unix socket, from the root on; nil over TCP.
  public let unixPath: String?

  init(_ address: ListenAddress) {
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
