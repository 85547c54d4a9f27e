@testable import WaybridgeCluster

extension NATSClusterConfiguration {
  /// The configuration of a cluster on one NATS server.
  init(url: String, name: String = "waybridge", replicas: Int = 1) throws {
    var settings = NATSClusterSettings(url: url)
    settings.name = name
    settings.replicas = replicas
    try self.init(settings)
  }
}
