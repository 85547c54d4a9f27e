import Foundation

/// A nats-server of a test's own, with JetStream, on any free port of the loopback interface: alone, or
/// one of several that make a cluster. It and its folder go with this.
package final class NATSServer: @unchecked Sendable {  // nothing of it changes
  /// Why it did not start.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// As clients name it.
  package let url: String
  private let monitor: String
  private let process = Process()
  private let log = Pipe()
  private let folder: Folder
  private let more: [String]

  /// What it keeps, which goes with the last engine that uses it.
  private final class Folder {
    let url: URL

    init() throws {
      url = FileManager.default.temporaryDirectory
        .appendingPathComponent("waybridge-nats-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
  }

  /// Starts one; blocks until it listens.
  package convenience init() throws { try self.init([], Folder()) }

  /// Starts so many that make a cluster; blocks until they listen. They agree on a leader later.
  package static func cluster(of count: Int) throws -> [NATSServer] {
    let ports = try freePorts(count)
    let routes = ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ",")
    return try ports.map { port in
      try NATSServer(
        [
          "-n", "engine\(port)", "--cluster_name", "test", "--cluster",
          "nats://127.0.0.1:\(port)", "--routes", routes,
        ], Folder())
    }
  }

  /// Ports that nobody listens on: those of a cluster have to be known before it starts.
  private static func freePorts(_ count: Int) throws -> [UInt16] {
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
      guard isBound else { throw Fault(description: "there is no free port") }
      return UInt16(bigEndian: address.sin_port)
    }
  }

  /// Kills it, and starts another in its place, with what it has kept; blocks until that listens.
  package func killedAndStarted() throws -> NATSServer {
    kill()
    return try NATSServer(more, folder)
  }

  private init(_ more: [String], _ folder: Folder) throws {
    (self.more, self.folder) = (more, folder)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.environment = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    process.arguments =
      ["nats-server", "-a", "127.0.0.1", "-p", "-1", "-m", "-1", "-js", "-sd", folder.url.path]
      + more
    process.standardError = log
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    var told = ""
    while !told.contains("Server is ready") {
      let more = log.fileHandleForReading.availableData
      guard !more.isEmpty else {
        throw Fault(description: "nats-server did not start: is it installed?\n\(told)")
      }
      told += String(decoding: more, as: UTF8.self)
    }
    guard let port = told.firstMatch(of: /client connections on 127\.0\.0\.1:(\d+)/)?.1,
      let monitor = told.firstMatch(of: /http monitor on 127\.0\.0\.1:(\d+)/)?.1
    else { throw Fault(description: "nats-server does not say where it listens:\n\(told)") }
    url = "nats://127.0.0.1:\(port)"
    self.monitor = "http://127.0.0.1:\(monitor)"
  }

  /// The number of the last message that this engine has of a stream, whatever the others have; throws
  /// where it does not tell.
  package func lastNumber(in stream: String) throws -> UInt64 {
    let curl = Process()
    let answer = Pipe()
    curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    curl.arguments = ["curl", "--silent", "--fail", monitor + "/jsz?streams=true"]
    curl.standardOutput = answer
    try curl.run()
    let told = answer.fileHandleForReading.readDataToEndOfFile()
    curl.waitUntilExit()
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let all = try decoder.decode(Told.self, from: told)
    let state = all.accountDetails.flatMap(\.streamDetail).first { $0.name == stream }?.state
    guard let state else { throw Fault(description: "there is no stream \(stream)") }
    return state.lastSeq
  }

  /// What it tells of its streams.
  private struct Told: Decodable {
    struct Account: Decodable { let streamDetail: [Stream] }
    struct Stream: Decodable {
      let name: String
      let state: State
    }
    struct State: Decodable { let lastSeq: UInt64 }
    let accountDetails: [Account]
  }

  deinit { kill() }

  private func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
