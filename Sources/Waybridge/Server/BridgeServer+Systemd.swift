import WaySession
import WaySockets

extension BridgeServer {
  /// Whether a service manager accepts notifications of this server.
  package var sendsSystemdNotifications: Bool {
    configuration.systemdNotifier?.sendsNotifications ?? false
  }

  /// Reads the files of the policy and of the table now, without waiting for the next poll. Errors
  /// are logged, and leave the policy and table unchanged. The
  /// ``BridgeConfiguration/systemdNotifier`` is notified at the begin and the end. Does nothing
  /// while the server does not run.
  public func reload() async {
    guard (try? lifecycle.sessionServer()) != nil else { return }
    notifyServiceManager(.reloading)
    if let file = configuration.policyFile { await reloadPolicy(from: file) }
    if configuration.watchesTableFile, let table = configuration.table, let file = table.file {
      await reloadTable(from: file, into: table)
    }
    notifyServiceManager(.ready)
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
