import ArgumentParser
import Waybridge

/// Who comes in to `serve` and `demo`.
struct AccessOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption, help: .setting("allowOrigin", valueName: "origin"),
    completion: .nothing)
  var allowOrigin: [String] = []

  @Option(
    parsing: .upToNextOption, help: .setting("allowHost", valueName: "name"), completion: .nothing)
  var allowHost: [String] = []

  @Option(
    parsing: .upToNextOption, help: .setting("trustedProxy", valueName: "address"),
    completion: .nothing)
  var trustedProxy: [String] = []

  /// The flag's value as a variable would have it.
  static func joined(_ values: [String]) -> String? {
    values.isEmpty ? nil : values.joined(separator: ",")
  }
}

extension Configuration {
  /// Tells a bridge who comes in.
  func open(_ bridge: inout BridgeConfiguration) {
    bridge.allowedOrigins = allowedOrigins
    bridge.allowedHosts = allowedHosts
    bridge.trustedProxies = trustedProxies
  }
}
