import WaySession
import WaySockets

extension BridgeServer {
  /// Reads the files of the policy, of the keys, of the table and of the cluster's secrets now, without waiting for the next
  /// poll. Logs and returns the result for each. A file that is rejected leaves what is in force.
  ///
  /// The ``BridgeConfiguration/systemdNotifier`` is notified at the begin. At the end it is notified
  /// that the server is ready if all files were accepted, and otherwise of a rejection. Does nothing
  /// while the server does not run.
  @discardableResult
  public func reload() async -> [FileReload] {
    guard (try? lifecycle.sessionServer()) != nil else { return [] }
    notifyServiceManager(.reloading)
    var reloads: [FileReload] = []
    if let file = configuration.sessions.policyFile {
      reloads.append(await reloadPolicy(from: file))
    }
    if let keys = configuration.tokenKeys { reloads += await keys.reload() }
    if configuration.sessions.watchesTableFile, let table = configuration.sessions.table,
      let file = table.file
    {
      reloads.append(await reloadTable(from: file, into: table))
    }
    if let reload = await reloadClusterSecrets() { reloads.append(reload) }
    let rejected = reloads.first { $0.rejection != nil }
    notifyServiceManager(rejected.map { .rejected($0) } ?? .ready)
    return reloads
  }

  /// Notifies the service manager; logs a failure.
  func notifyServiceManager(_ notification: SystemdNotifier.SystemdNotification) {
    do throws(SocketError) { try configuration.systemdNotifier?.notify(notification) } catch {
      configuration.logger?.warning(
        "service manager not notified", metadata: ["reason": "\(error.description)"])
    }
  }

  /// Sends the watchdog notifications that the service manager requires, each after all loops have
  /// run, until the task is cancelled.
  func sendWatchdogPings(for running: RunningBridge) async {
    guard let period = configuration.systemdNotifier?.watchdogTimeout else { return }
    while !Task.isCancelled {
      await running.waitForLoops()
      notifyServiceManager(.watchdog)
      do { try await Task.sleep(for: period / 2) } catch { return }
    }
  }

  /// The longest time that a shutdown may take.
  var shutdownTimeout: Duration {
    configuration.drainTimeout + configuration.closeTimeout + .seconds(5)
  }
}
