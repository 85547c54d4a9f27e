import WayRouting
import WayTable
import WayValues

// The route table while the server runs.
extension SessionHub {
  /// Tells those who subscribe to `table.changed` of each change, until the task is cancelled.
  package func tell(_ changes: some AsyncSequence<LiveTable.Change, Never> & Sendable) async {
    for await change in changes {
      tell(change)
      await recheck()
    }
  }

  private func tell(_ change: LiveTable.Change) {
    let topic = OwnTopic.tableChanged.rawValue
    let event = BridgeEvent(topic: topic, data: change.value, at: configuration.now())
    listeners.deliver(event)
    // It is short: names are cut before there are too many.
    guard let message = try? message(event, limit: limits.maxAnswer) else { return }
    for session in sessions.values {
      session.assumeIsolated { $0.happenings.deliver(message, topic) }
    }
  }

  /// Compares what is declared with who is there now, aside.
  @discardableResult
  package func recheck() async -> Recheck {
    let router = configuration.router.snapshot()
    let hosts = hostDefinitions
    let now = RecheckedState(version: router.version, hosts: hosts)
    guard now != rechecked else { return lastRecheck }
    let recheck = await Self.recheck(router, hosts)
    (rechecked, lastRecheck) = (now, recheck)
    return recheck
  }

  /// What the clients of all sessions host.
  private var hostDefinitions: Set<HostDefinition> {
    var hosts = Set(serverHosts.definitions)
    for session in sessions.values {
      hosts.formUnion(session.assumeIsolated { $0.guide.hosts.definitions })
    }
    return hosts
  }

  @concurrent
  private static func recheck(
    _ router: RouterSnapshot, _ hosts: Set<HostDefinition>
  ) async -> Recheck {
    Recheck(router, hosts)
  }
}

/// What a recheck was about: as long as it is the same, so is the outcome.
struct RecheckedState: Hashable {
  let version: Int
  let hosts: Set<HostDefinition>
}
