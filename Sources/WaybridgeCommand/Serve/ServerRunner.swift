import CoreMetrics
import Foundation
import Logging
import ServiceLifecycle
import Waybridge

/// Runs the server of `serve` and `demo` until a signal, after printing the address.
enum ServerRunner {
  /// - Parameters:
  ///   - services: services that the server needs, started before it and ended after it.
  ///   - reloadsOnSignal: whether the server reloads its files on SIGHUP, which otherwise ends it.
  ///   - line: a second line to print, in which `{address}` is replaced.
  ///   - onCreate: receives the server before it runs.
  ///   - handler: receives the bound address before it is printed.
  static func run(
    _ router: Router, _ configuration: BridgeConfiguration, alongside services: [any Service] = [],
    reloadsOnSignal: Bool = false, banner line: String? = nil,
    onCreate: (BridgeServer) -> Void = { _ in },
    onListening handler: @escaping @Sendable (BridgeServerAddress) -> Void = { _ in }
  ) async throws {
    MetricsSystem.bootstrap(PrometheusMetrics())
    let reloadSignal = reloadsOnSignal ? CommandReloadSignal() : nil
    let server = BridgeServer(router: router, configuration: configuration) { address in
      reloadSignal?.didListen()
      handler(address)
      print("listening on \(address)")
      if let line {
        print(line.replacingOccurrences(of: "{address}", with: address.description))
      }
      fflush(nil)
    }
    onCreate(server)
    let reloads = reloadSignal.map { signal in Task { await signal.reload(server) } }
    let serviceGroup = ServiceGroup(
      services: services + [server], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "waybridge") { _ in SwiftLogNoOpLogHandler() })
    let secondSignalExit = CommandSignalExit()
    defer {
      secondSignalExit.cancel()
      reloads?.cancel()
      reloadSignal?.cancel()
    }
    do {
      try await serviceGroup.run()
    } catch {
      throw CommandError("\(error)\(advice(for: "\(error)", configuration))")
    }
  }

  /// The flags that solve a problem of listening. The server does not know them.
  private static func advice(for message: String, _ configuration: BridgeConfiguration) -> String {
    if message.hasSuffix("is in use by another program") { return "; choose another with --port" }
    let isOpen = configuration.sessions.identify != nil || configuration.sessions.allowsAnonymous
    let isLocal = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(configuration.network.host)
    guard message.hasPrefix("cannot listen on "), !isOpen, !isLocal else { return "" }
    return "; authenticate clients with --token-secret-file, --token-key-file or --token-jwks, or "
      + "accept all clients with --allow-anonymous"
  }
}
