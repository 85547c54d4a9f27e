import Foundation

/// A nats-server of a test's own, with JetStream, on any free port of the loopback interface. It and
/// its folder go with this.
package final class NATSEngine: @unchecked Sendable {  // one test at a time restarts it
  /// Why it did not start.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// As clients name it.
  package let url: String
  private let process: Process
  private let folder: URL

  /// Starts one; blocks until it listens.
  package convenience init(jetStream: Bool = true, _ more: String...) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("waybridge-nats-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try self.init(folder: folder, port: -1, jetStream: jetStream, more)
  }

  private init(folder: URL, port: Int, jetStream: Bool, _ more: [String]) throws {
    self.folder = folder
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.environment = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    process.arguments =
      ["nats-server", "-a", "127.0.0.1", "-p", "\(port)", "--ports_file_dir", folder.path]
      + (jetStream ? ["-js", "-sd", folder.path] : []) + more
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    url = try Self.address(in: folder, of: process)
  }

  /// It writes where it listens into a file when it does.
  private static func address(in folder: URL, of process: Process) throws -> String {
    for _ in 0..<2_000 {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      if let name = names.first(where: { $0.hasSuffix(".ports") }),
        let data = FileManager.default.contents(atPath: folder.path + "/" + name),
        let ports = try? JSONSerialization.jsonObject(with: data) as? [String: [String]],
        let url = ports["nats"]?.first
      {
        return url
      }
      guard process.isRunning else { break }
      usleep(5_000)
    }
    throw Fault(description: "nats-server did not start: is it installed?")
  }

  /// Kills it and starts it again on its folder and port.
  package func restarted() throws -> NATSEngine {
    let port = URL(string: url)?.port ?? -1
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasSuffix(".ports") {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    isHandedOn = true
    return try NATSEngine(folder: folder, port: port, jetStream: true, [])
  }

  private var isHandedOn = false

  deinit {
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    if !isHandedOn { try? FileManager.default.removeItem(at: folder) }
  }
}
