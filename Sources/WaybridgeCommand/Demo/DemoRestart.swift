import Foundation
import Synchronization
import Waybridge

/// Ends the demo's server as a crash does and restarts it in its place, to show what its folder has
/// persisted.
///
/// `execv` ends it: the kernel discards memory and threads wherever they are and closes every
/// socket. No handler runs, no client is notified and nothing is flushed, as after SIGKILL. The
/// process keeps its id, so the program that started the demo can still end it, and no second
/// process needs to be supervised.
final class DemoRestart: Sendable {
  /// The folder of sessions and of the data of tasks.
  let folder: String
  /// Whether the folder belongs to this demo only and is removed with it.
  private let isTemporary: Bool
  /// Whether the server serves the inspector.
  private let servesInspector: Bool
  private let port = Mutex(0)

  /// - Parameters:
  ///   - folder: the given folder; nil creates a temporary one.
  ///   - isTemporary: whether a previous run of this demo has created the folder.
  ///   - servesInspector: whether the server serves the inspector.
  init(folder: String?, isTemporary: Bool, servesInspector: Bool) throws(CommandError) {
    if let folder { self.folder = folder } else { self.folder = try Self.makeTemporaryFolder() }
    self.isTemporary = isTemporary || folder == nil
    self.servesInspector = servesInspector
  }

  /// Handles the scheme `demo`: these are not routes of the app, and no table contains them.
  func register(in router: Router) throws {
    try router.register(SchemeDispatcher(name: "demo", action: .custom(handleCall)), scheme: "demo")
  }

  /// Stores the port to which clients reconnect.
  func didListen(at address: BridgeServerAddress) { port.withLock { $0 = address.port } }

  /// Removes a temporary folder when the demo has ended normally.
  func removeTemporaryFolder() {
    if isTemporary { try? FileManager.default.removeItem(atPath: folder) }
  }

  @Sendable private func handleCall(_ call: Call) async throws -> Value {
    switch call.uri.text {
    case "demo://features": return features(call)
    case "demo://restart": return try restart(call)
    default:
      throw CallError(
        code: 1404, message: "The demo has demo://features and demo://restart, no \(call.uri.text)")
    }
  }

  /// Returns the features that the workbench may offer.
  private func features(_ call: Call) -> Value {
    [
      "restart": .bool(DemoPolicy.isWorkbench(call.caller)),
      "inspector": .bool(servesInspector),
    ]
  }

  /// Ends the server shortly after it has responded.
  private func restart(_ call: Call) throws -> Value {
    guard DemoPolicy.isWorkbench(call.caller) else {
      throw CallError(code: 1403, message: "Only the demo's own workbench restarts its server")
    }
    Task {
      // The response is sent first.
      try await Task.sleep(for: .milliseconds(150))
      restartProcess()
    }
    return ["process": .integer(Int64(getpid()))]
  }

  /// Restarts the process and does not return. Libraries open descriptors with close-on-exec; this
  /// sets it for any that they have missed, since the socket would stay open without a server.
  private func restartProcess() {
    var newArguments = ["--port", String(port.withLock { $0 })]
    if isTemporary { newArguments += ["--data", folder, "--temporary-data"] }
    var arguments = CommandLine.arguments
    if Array(arguments.suffix(newArguments.count)) != newArguments { arguments += newArguments }
    // Signal handlers and masks survive an execv and would hide signals from the next process.
    for number in [SIGTERM, SIGINT, SIGPIPE] { signal(number, SIG_DFL) }
    var emptySet = sigset_t()
    sigemptyset(&emptySet)
    pthread_sigmask(SIG_SETMASK, &emptySet, nil)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
      if let descriptor = Int32(name), descriptor > STDERR_FILENO {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    pointers.append(nil)
    execv("/proc/self/exe", pointers)
    perror("Error: the server cannot be restarted")
    _exit(1)
  }

  private static func makeTemporaryFolder() throws(CommandError) -> String {
    let parent = FileManager.default.temporaryDirectory
    let folder = parent.appendingPathComponent("waybridge-demo-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandError(
        "cannot create a folder for sessions in \(quoted(parent.path)); name another with --data")
    }
    return folder.path
  }
}
