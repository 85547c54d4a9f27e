import ArgumentParser
import Waybridge

/// The flags that control access to `serve` and `demo`.
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

  /// The flag's values in the format of a variable.
  static func joined(_ values: [String]) -> String? {
    values.isEmpty ? nil : values.joined(separator: ",")
  }
}

extension CommandSettings {
  /// Sets the access rules of a server.
  func configureAccess(_ bridge: inout BridgeConfiguration) {
    bridge.allowedOrigins = allowedOrigins
    bridge.allowedHosts = allowedHosts
    bridge.trustedProxies = trustedProxies
  }
}
