import WaySession
import WayValues

/// What a server tells of its cluster.
struct ClusterMetrics {
  let cluster: ClusterNode

  var families: [MetricFamily] { servers + lease + sessions + relays }

  private var servers: [MetricFamily] {
    let others = cluster.others
    var sessions = MetricFamily(
      "waybridge_cluster_server_sessions", .gauge,
      "Open sessions of each other server, as it has told last.")
    for (server, presence) in others {
      sessions.add(Int(clamping: presence["sessions"]?.integer ?? 0), ("server", server))
    }
    return [
      MetricFamily(
        "waybridge_cluster_servers", .gauge, "Servers that are there, this one among them.",
        value: others.count + 1),
      sessions,
      MetricFamily(
        "waybridge_cluster_questions_total", .counter,
        "Questions that were put to other servers: pushes, lists, tasks of their clients.",
        value: cluster.counts.asked.value),
      MetricFamily(
        "waybridge_cluster_unreadable_messages_total", .counter,
        "Messages on the servers' subjects that could not be read, and were dropped.",
        value: cluster.counts.unreadable.value),
    ]
  }

  private var lease: [MetricFamily] {
    let counts = cluster.engine.tenure.counts
    return [
      MetricFamily(
        "waybridge_cluster_engine_reached", .gauge,
        "1 where the engine that the servers share has answered last.",
        value: cluster.engine.isReached ? 1 : 0),
      MetricFamily(
        "waybridge_cluster_lease_milliseconds", .gauge,
        "How long the server may take its sessions for its own, unless it renews its lease.",
        value: Int(cluster.leaseLeft / .milliseconds(1))),
      MetricFamily(
        "waybridge_cluster_lease_renewals_total", .counter, "Renewals of the lease.",
        value: counts.renewals),
      MetricFamily(
        "waybridge_cluster_lease_losses_total", .counter,
        "How often another server has found this one gone.", value: counts.losses),
    ]
  }

  private var sessions: [MetricFamily] {
    let counts = cluster.counts
    var taken = MetricFamily(
      "waybridge_cluster_takeovers_total", .counter,
      "Sessions of servers that were gone or have ended which this one has gone on with: as it began "
        + "(start), because a client came for them (client), or because none did (orphan).")
    taken.add(counts.takenAtStart.value, ("reason", "start"))
    taken.add(counts.takenForClients.value, ("reason", "client"))
    taken.add(counts.takenAsOrphans.value, ("reason", "orphan"))
    return [
      taken,
      MetricFamily(
        "waybridge_cluster_handovers_total", .counter,
        "Sessions that this server has given to others as it ended.",
        value: counts.handedOver.value),
      MetricFamily(
        "waybridge_cluster_lost_sessions_total", .counter,
        "Sessions that others have taken over while this server had them.",
        value: counts.lost.value),
    ]
  }

  private var relays: [MetricFamily] {
    let (entrances, owned) = cluster.relayCounts
    var relays = MetricFamily(
      "waybridge_cluster_relays", .gauge,
      "Connections that came in here and whose session is another server's (in), and connections of "
        + "others whose session is here (out).")
    relays.add(entrances, ("direction", "in"))
    relays.add(owned, ("direction", "out"))
    let totals = cluster.relayTotals
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
