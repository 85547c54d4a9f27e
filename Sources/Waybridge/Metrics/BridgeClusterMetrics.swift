import WaySession
import WayValues

/// The metrics of a server's cluster.
struct BridgeClusterMetrics {
  let node: ClusterNode

  var families: [MetricFamily] {
    serverFamilies + secretFamilies + leaseFamilies + sessionFamilies + relayFamilies
  }

  private var serverFamilies: [MetricFamily] {
    let others = node.others
    var sessions = MetricFamily(
      "waybridge_cluster_server_sessions", .gauge,
      "Open sessions of each other server, as it last reported.")
    for (server, presence) in others {
      sessions.add(Int(clamping: presence["sessions"]?.integer ?? 0), ("server", server))
    }
    var differing = MetricFamily(
      "waybridge_cluster_differing_servers", .gauge,
      "Other servers whose policy, or whose keys of tokens, differ from those of this one.")
    differing.add(node.differingServers.policy, ("kind", "policy"))
    differing.add(node.differingServers.keys, ("kind", "keys"))
    return [
      differing,
      MetricFamily(
        "waybridge_cluster_conflict", .gauge,
        "1 while the server does not serve because its settings differ from those of its cluster.",
        value: node.conflict == nil ? 0 : 1),
      MetricFamily(
        "waybridge_cluster_servers", .gauge, "Servers in the cluster, including this one.",
        value: others.count + 1),
      sessions,
      MetricFamily(
        "waybridge_cluster_questions_total", .counter,
        "Requests to other servers: pushes, lists, tasks of their clients.",
        value: node.counts.requestsSent.value),
      MetricFamily(
        "waybridge_cluster_unreadable_messages_total", .counter,
        "Messages of other servers that could not be read and were dropped.",
        value: node.counts.unreadableMessages.value),
      MetricFamily(
        "waybridge_cluster_rejected_messages_total", .counter,
        "Messages that were dropped because no server of the cluster has sent them to this one just "
          + "now: forged, repeated or old ones, and those of servers with another cluster secret.",
        value: node.counts.rejectedMessages.value),
    ]
  }

  /// The metrics of the secrets; empty without a secret.
  private var secretFamilies: [MetricFamily] {
    let names = node.engine.secretNames
    guard !names.isEmpty else { return [] }
    var secrets = MetricFamily(
      "waybridge_cluster_secrets_info", .gauge,
      "Hashes of the cluster's secrets, which do not reveal them, the one that encrypts first; "
        + "always 1.")
    secrets.add(1, ("hash", names.joined(separator: ",")))
    return [
      secrets,
      MetricFamily(
        "waybridge_cluster_secret_refusals_total", .counter,
        "Contents of the file of the cluster's secrets that were rejected.",
        value: node.counts.rejectedSecrets.value),
      MetricFamily(
        "waybridge_cluster_secret_comparison_failures_total", .counter,
        "Reloads of the cluster's secrets that changed nothing, because these could not be compared "
          + "with those of other servers.",
        value: node.counts.secretComparisonFailures.value),
    ]
  }

  private var leaseFamilies: [MetricFamily] {
    let counts = node.engine.leaseValidity.counts
    var voters = MetricFamily(
      "waybridge_cluster_voters", .gauge,
      "NATS servers that this server is connected to (up), or not (down), of those that can extend "
        + "its lease while it cannot be renewed.")
    let (connected, all) = node.engine.voters ?? (0, 0)
    voters.add(connected, ("state", "up"))
    voters.add(all - connected, ("state", "down"))
    return [
      voters,
      MetricFamily(
        "waybridge_cluster_engine_reached", .gauge,
        "1 if NATS answered last time, else 0.",
        value: node.engine.isReachable ? 1 : 0),
      MetricFamily(
        "waybridge_cluster_lease_milliseconds", .gauge,
        "Time for which the server still owns its sessions without renewing its lease.",
        value: Int(node.remainingLease / .milliseconds(1))),
      MetricFamily(
        "waybridge_cluster_lease_renewals_total", .counter, "Renewals of the lease.",
        value: counts.renewals),
      MetricFamily(
        "waybridge_cluster_lease_extensions_total", .counter,
        "Extensions of the lease by a majority of the NATS servers, while it could not be renewed.",
        value: counts.extensions),
      MetricFamily(
        "waybridge_cluster_lease_losses_total", .counter,
        "Times that another server considered this one failed.", value: counts.losses),
    ]
  }

  private var sessionFamilies: [MetricFamily] {
    let counts = node.counts
    var takenOver = MetricFamily(
      "waybridge_cluster_takeovers_total", .counter,
      "Sessions of other servers that this one took over: when it started (start), when a client "
        + "asked for them (client), or without a client (orphan).")
    takenOver.add(counts.takenOverAtStart.value, ("reason", "start"))
    takenOver.add(counts.takenOverForClients.value, ("reason", "client"))
    takenOver.add(counts.takenOverAsOrphans.value, ("reason", "orphan"))
    return [
      takenOver,
      MetricFamily(
        "waybridge_cluster_handovers_total", .counter,
        "Sessions that this server handed over to others at its shutdown.",
        value: counts.handedOver.value),
      MetricFamily(
        "waybridge_cluster_lost_sessions_total", .counter,
        "Sessions that other servers took over while this server was running.",
        value: counts.lostToPeers.value),
    ]
  }

  private var relayFamilies: [MetricFamily] {
    let (accepted, owned) = node.relayCounts
    var relays = MetricFamily(
      "waybridge_cluster_relays", .gauge,
      "Connections to this server for sessions of other servers (in), and connections to other "
        + "servers for sessions of this server (out).")
    relays.add(accepted, ("direction", "in"))
    relays.add(owned, ("direction", "out"))
    let totals = node.relayTotals
    return [
      relays,
      MetricFamily(
        "waybridge_cluster_relayed_connections_total", .counter,
        "Connections here that were relayed to other servers.", value: totals.relays),
      MetricFamily(
        "waybridge_cluster_relayed_messages_total", .counter,
        "Messages that were relayed, in both directions.", value: totals.messages),
    ]
  }
}
