import Foundation
import Synchronization
import Waybridge

/// Ends the demo's server as a crash does and starts it again in its place, so that one sees what
/// its folder has kept.
///
/// `execv` is what ends it: the kernel throws memory and threads away wherever they are and closes
/// every socket. As after SIGKILL, no handler runs, nothing is said to a client and nothing is
/// flushed. The process keeps its number, so whoever has started the demo can still end it, and
/// nobody has to watch over a second one.
final class DemoRestart: Sendable {
  /// Where sessions and what the tasks remember are kept.
  let folder: String
  /// Whether the folder is this demo's alone, and goes with it.
  private let isTemporary: Bool
  /// Whether the server serves the inspector.
  private let servesInspector: Bool
  private let port = Mutex(0)

  /// - Parameters:
  ///   - folder: the one that was named; else one is made among the temporary ones.
  ///   - isTemporary: whether a demo that was started again has made it.
  ///   - servesInspector: whether the server serves the inspector.
  init(folder: String?, isTemporary: Bool, servesInspector: Bool) throws(CommandError) {
    if let folder { self.folder = folder } else { self.folder = try Self.temporaryFolder() }
    self.isTemporary = isTemporary || folder == nil
    self.servesInspector = servesInspector
  }

  /// Answers the scheme `demo`: these are no routes of the app, and no table has them.
  func register(in router: Router) throws {
    try router.register(SchemeDispatcher(name: "demo", action: .custom(answer)), scheme: "demo")
  }

  /// Takes the port at which the clients come back.
  func listens(at address: BoundAddress) { port.withLock { $0 = address.port } }

  /// The demo has ended as it should.
  func ended() {
    if isTemporary { try? FileManager.default.removeItem(atPath: folder) }
  }

  @Sendable private func answer(_ call: Call) async throws -> Value {
    switch call.uri.text {
    case "demo://features": return features(call)
    case "demo://restart": return try restart(call)
    default:
      throw CallError(
        code: 1404, message: "The demo has demo://features and demo://restart, no \(call.uri.text)")
    }
  }

  /// What the workbench may offer.
  private func features(_ call: Call) -> Value {
    [
      "restart": .bool(DemoPolicy.isWorkbench(call.caller)),
      "inspector": .bool(servesInspector),
    ]
  }

  /// Ends the server a moment after it has said so.
  private func restart(_ call: Call) throws -> Value {
    guard DemoPolicy.isWorkbench(call.caller) else {
      throw CallError(code: 1403, message: "Only the demo's own workbench restarts its server")
    }
    Task {
      // The answer goes out first.
      try await Task.sleep(for: .milliseconds(150))
      startAgain()
    }
    return ["process": .integer(Int64(getpid()))]
  }

  /// Does not return. What the libraries open they close by an `execv` themselves; a descriptor
  /// that one of them has forgotten would be a socket that nobody answers on.
  private func startAgain() {
    var added = ["--port", String(port.withLock { $0 })]
    if isTemporary { added += ["--data", folder, "--temporary-data"] }
    var arguments = CommandLine.arguments
    if Array(arguments.suffix(added.count)) != added { arguments += added }
    // What is kept over an execv, and would keep the next one from hearing signals.
    for number in [SIGTERM, SIGINT, SIGPIPE] { signal(number, SIG_DFL) }
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
      if let descriptor = Int32(name), descriptor > STDERR_FILENO {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    pointers.append(nil)
    execv("/proc/self/exe", pointers)
    perror("The server could not be started again")
    _exit(1)
  }

  private static func temporaryFolder() throws(CommandError) -> String {
    let parent = FileManager.default.temporaryDirectory
    let folder = parent.appendingPathComponent("waybridge-demo-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandError(
        "No folder can be made in \(parent.path), where sessions are kept: name one by --data")
    }
    return folder.path
  }
}
