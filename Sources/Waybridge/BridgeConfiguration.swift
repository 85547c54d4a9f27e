import WaySession

/// Where a bridge listens and what it serves beside the bridge itself.
public struct BridgeConfiguration: Sendable {
  /// A loopback address: `127.0.0.1`, `localhost` or `::1`. Others are refused at start.
  public var host: String
  /// The TCP port; 0 takes any free one.
  public var port: Int
  /// A folder of files served at `/`; nil serves none.
  public var webRoot: String?
  /// Bounds on what clients choose.
  public var limits: Limits
  /// The version of the loaded route table, as clients are told it.
  public var tableVersion: String
  /// Adds the JSON-RPC specification's example methods, `echo`, the task `action://echo`, and an echo of WebSocket
  /// messages at `/echo`, for tests of clients. It also takes as many connections as there are descriptors.
  public var conformance: Bool
  /// How long a shutdown waits for connections to close.
  public var grace: Duration

  public init(
    host: String = "127.0.0.1", port: Int = 8080, webRoot: String? = nil,
    limits: Limits = Limits(), tableVersion: String = "", conformance: Bool = false,
    grace: Duration = .seconds(5)
  ) {
    self.host = host
    self.port = port
    self.webRoot = webRoot
    self.limits = limits
    self.tableVersion = tableVersion
    self.conformance = conformance
    self.grace = grace
  }
}

/// Where a bridge listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
  public let host: String
  public let port: Int

  /// `http://HOST:PORT`, an IPv6 address in brackets.
  public var description: String {
    "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}
