import CoreMetrics
import Foundation
import Logging
import ServiceLifecycle
import Waybridge

/// What `serve` and `demo` share: run until a signal, tell the address first.
enum ServerRunner {
  /// - Parameters:
  ///   - services: what the server needs, started before it and ended after it.
  ///   - line: a second line to print, in which `{address}` is replaced.
  ///   - use: gets the server before it runs.
  ///   - listens: gets the address that was taken, before it is told.
  static func serve(
    _ router: Router, _ configuration: BridgeConfiguration, beside services: [any Service] = [],
    then line: String? = nil, use: (BridgeServer) -> Void = { _ in },
    at listens: @escaping @Sendable (BoundAddress) -> Void = { _ in }
  ) async throws {
    MetricsSystem.bootstrap(PrometheusMetrics())
    let server = BridgeServer(router: router, configuration: configuration) { address in
      listens(address)
      print("listening on \(address)")
      if let line {
        print(line.replacingOccurrences(of: "{address}", with: address.description))
      }
      fflush(nil)
    }
    use(server)
    let reloads = CommandReloadSignal(of: server)
    let group = ServiceGroup(
      services: services + [server], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "waybridge") { _ in SwiftLogNoOpLogHandler() })
    let impatience = CommandSignalExit()
    defer {
      impatience.end()
      reloads?.end()
    }
    try await group.run()
  }
}
