import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import Waybridge

/// What `serve` and `demo` share: run until a signal, tell the address first.
enum Listening {
  static func validate(port: Int) throws {
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port must be from 0 to 65535, not \(port)")
    }
  }

  /// - Parameter then: a second line to print, in which `{address}` is replaced.
  static func serve(
    _ router: Router, _ configuration: BridgeConfiguration, then line: String? = nil
  ) async throws {
    let server = BridgeServer(router: router, configuration: configuration) { address in
      print("listening on \(address)")
      if let line {
        print(line.replacingOccurrences(of: "{address}", with: address.description))
      }
      fflush(nil)
    }
    let group = ServiceGroup(
      services: [server], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "waybridge") { _ in SwiftLogNoOpLogHandler() })
    try await group.run()
  }
}
