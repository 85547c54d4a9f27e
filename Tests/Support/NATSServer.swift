import Foundation

/// A nats-server with JetStream for one test, on a free port of the loopback interface. It runs
/// alone or as a node of a cluster. The process and its data folder are removed with this object.
package final class NATSServer: @unchecked Sendable {  // immutable
  /// The reason that the server did not start.
  package struct NATSServerError: Error, CustomStringConvertible {
    package let description: String
  }

  /// The URL for clients.
  package let url: String
  private let monitorURL: String
  private let process = Process()
  private let log = Pipe()
  private let folder: DataFolder
  private let extraArguments: [String]

  /// The data folder. It is removed with the last server that uses it.
  private final class DataFolder {
    let url: URL

    init() throws {
      url = FileManager.default.temporaryDirectory
        .appendingPathComponent("waybridge-nats-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
  }

  /// Starts a server; blocks until it listens.
  package convenience init() throws { try self.init([], DataFolder()) }

  /// Starts this many servers as a cluster; blocks until they listen. They elect a leader later.
  package static func cluster(of count: Int) throws -> [NATSServer] {
    let ports = try reservePorts(count)
    let routes = ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ",")
    return try ports.map { port in
      try NATSServer(
        [
          "-n", "engine\(port)", "--cluster_name", "test", "--cluster",
          "nats://127.0.0.1:\(port)", "--routes", routes,
        ], DataFolder())
    }
  }

  /// Returns unused ports. The ports of a cluster must be known before it starts.
  private static func reservePorts(_ count: Int) throws -> [UInt16] {
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    return try (0..<count).map { _ in
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      sockets.append(socket)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
        }
      }
      guard isBound else { throw NATSServerError(description: "there is no free port") }
      return UInt16(bigEndian: address.sin_port)
    }
  }

  /// Kills the server and starts another on the same data folder; blocks until that one listens.
  package func killAndRestart() throws -> NATSServer {
    kill()
    return try NATSServer(extraArguments, folder)
  }

  private init(_ more: [String], _ folder: DataFolder) throws {
    (self.extraArguments, self.folder) = (more, folder)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.environment = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    process.arguments =
      ["nats-server", "-a", "127.0.0.1", "-p", "-1", "-m", "-1", "-js", "-sd", folder.url.path]
      + more
    process.standardError = log
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    var output = ""
    while !output.contains("Server is ready") {
      let more = log.fileHandleForReading.availableData
      guard !more.isEmpty else {
        throw NATSServerError(description: "nats-server did not start: is it installed?\n\(output)")
      }
      output += String(decoding: more, as: UTF8.self)
    }
    guard let port = output.firstMatch(of: /client connections on 127\.0\.0\.1:(\d+)/)?.1,
      let monitor = output.firstMatch(of: /http monitor on 127\.0\.0\.1:(\d+)/)?.1
    else {
      throw NATSServerError(description: "nats-server did not report its ports:\n\(output)")
    }
    url = "nats://127.0.0.1:\(port)"
    self.monitorURL = "http://127.0.0.1:\(monitor)"
  }

  /// Returns the sequence number of the stream's last message on this server, which may differ from
  /// other nodes. Throws if the server does not report it.
  package func lastSequence(in stream: String) throws -> UInt64 {
    let curl = Process()
    let pipe = Pipe()
    curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    curl.arguments = ["curl", "--silent", "--fail", monitorURL + "/jsz?streams=true"]
    curl.standardOutput = pipe
    try curl.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    curl.waitUntilExit()
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let all = try decoder.decode(MonitorResponse.self, from: data)
    let state = all.accountDetails.flatMap(\.streamDetail).first { $0.name == stream }?.state
    guard let state else { throw NATSServerError(description: "there is no stream \(stream)") }
    return state.lastSeq
  }

  /// The server's report on its streams.
  private struct MonitorResponse: Decodable {
    struct AccountDetail: Decodable { let streamDetail: [StreamDetail] }
    struct StreamDetail: Decodable {
      let name: String
      let state: StreamState
    }
    struct StreamState: Decodable { let lastSeq: UInt64 }
    let accountDetails: [AccountDetail]
  }

  deinit { kill() }

  private func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
