import Foundation

/// A nats-server of a test's own, with JetStream, on any free port of the loopback interface. It and
/// its folder go with this.
package final class NATSEngine: @unchecked Sendable {  // nothing of it changes
  /// Why it did not start.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// As clients name it.
  package let url: String
  private let process = Process()
  private let log = Pipe()
  private let folder: URL

  /// Starts one; blocks until it listens.
  package init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("waybridge-nats-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.environment = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    process.arguments = ["nats-server", "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder.path]
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
    guard let port = told.firstMatch(of: /client connections on 127\.0\.0\.1:(\d+)/)?.1 else {
      throw Fault(description: "nats-server does not say where it listens:\n\(told)")
    }
    url = "nats://127.0.0.1:\(port)"
  }

  deinit {
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try? FileManager.default.removeItem(at: folder)
  }
}
