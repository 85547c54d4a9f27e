import WaySession
import WaySockets

extension BridgeServer {
  /// Whether a service manager takes notices of it.
  package var isManaged: Bool { configuration.serviceManager?.isNotified ?? false }

  /// Reads the files of the policy and of the table now, and not only at the next look: what is
  /// wrong is logged, and leaves things as they are. The ``BridgeConfiguration/serviceManager`` is
  /// told when it begins and when it is done. Does nothing while the server does not run.
  public func reload() async {
    guard (try? slot.group()) != nil else { return }
    tell(.reloading)
    if let file = configuration.policyFile { await takePolicy(from: file) }
    if configuration.followsTableFile, let table = configuration.table, let file = table.file {
      await takeTable(from: file, into: table)
    }
    tell(.ready)
  }

  /// Tells the service manager something; that this failed, the log.
  func tell(_ notice: SystemdNotifier.Notice) {
    do throws(SocketError) { try configuration.serviceManager?.tell(notice) } catch {
      configuration.logger?.warning(
        "service manager not told", metadata: ["reason": "\(error.description)"])
    }
  }

  /// Gives the service manager the signs of life that it wants, each when all loops have turned,
  /// until the task is cancelled.
  func giveSigns(ofLifeOf running: RunningBridge) async {
    guard let period = configuration.serviceManager?.watchdog else { return }
    while !Task.isCancelled {
      await running.turn()
      tell(.alive)
      do { try await Task.sleep(for: period / 2) } catch { return }
    }
  }

  /// How long a shutdown may take.
  var longestStop: Duration { configuration.drain + configuration.grace + .seconds(5) }
}
