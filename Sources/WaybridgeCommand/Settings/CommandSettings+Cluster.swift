import WaybridgeCluster

extension CommandSettings {
  /// The NATS servers of the cluster, and how this server uses them.
  var clusterSettings: NATSClusterSettings {
    var cluster = NATSClusterSettings(url: cluster)
    cluster.name = clusterName
    cluster.replicas = clusterReplicas
    cluster.secretFile = clusterSecretFile
    cluster.credentialsFile = clusterCredentials
    cluster.authorityFile = clusterCA
    cluster.certificateFile = clusterCertificate
    cluster.keyFile = clusterKey
    return cluster
  }
}
