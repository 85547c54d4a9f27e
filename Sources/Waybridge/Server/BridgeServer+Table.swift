import Logging
import WaySession
import WayTable

extension BridgeServer {
  /// The interval of checks for routes that nothing serves.
  private static let auditInterval = Duration.seconds(10)
  /// The maximum number of schemes, which clients choose, in the log.
  private static let maxReportedSchemes = 20

  /// Watches the table while the server runs: its file, its changes, and the handlers and hosts
  /// that serve it. Ends when the task is cancelled.
  func watchTable(_ sessionServer: SessionServer) async {
    await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask { await self.auditRoutes(sessionServer) }
      if let table = configuration.table {
        tasks.addTask { await sessionServer.publishTableChanges(await table.changes()) }
        tasks.addTask { await logTableChanges(table) }
        if configuration.watchesTableFile, let file = table.file {
          tasks.addTask { await watchTableFile(file, of: table) }
        }
      }
    }
  }

  private func watchTableFile(_ path: String, of table: LiveTable) async {
    var file = WatchedFile(path, limit: TableDocument.maxSize)
    // Changes between the start and now are applied too.
    await applyTable(Result { () throws(FileError) in try file.read() }, path, table)
    await file.watch { content in await applyTable(content, path, table) }
  }

  /// Applies the table that is in a file now.
  func reloadTable(from path: String, into table: LiveTable) async {
    var file = WatchedFile(path, limit: TableDocument.maxSize)
    await applyTable(Result { () throws(FileError) in try file.read() }, path, table)
  }

  private func applyTable(
    _ content: Result<[UInt8], FileError>, _ path: String, _ table: LiveTable
  ) async {
    let name = TableDocument.name(path)
    do throws(TableError) {
      let bytes: [UInt8]
      do { bytes = try content.get() } catch {
        throw TableError(.unreadable, "\(name) \(error.reason)")
      }
      let document = try TableDocument.parse(bytes, from: name)
      _ = try? await table.applyIfNew(document, cause: .file, at: ServerWallClock.milliseconds())
    } catch {
      await table.reject(error, .file)
    }
  }

  private func logTableChanges(_ table: LiveTable) async {
    guard let logger = configuration.logger else { return }
    for await event in await table.events() {
      switch event {
      case .changed(let change):
        logger.info(
          "table changed",
          metadata: [
            "version": "\(change.stamp.version)", "hash": "\(change.stamp.hash)",
            "cause": "\(change.cause.rawValue)", "previous": "\(change.previous.version)",
            "swapTime": "\(change.swapDuration)",
          ])
      case .rejected(let error, let cause):
        logger.warning(
          "table rejected; the current table stays in force",
          metadata: ["cause": "\(cause.rawValue)", "reason": "\(error)"])
      }
    }
  }

  /// Compares the declared routes with the registered handlers and hosts, for the metrics. Logs
  /// mismatches that depend only on the app's code, and the first schemes with an undefined target
  /// or handler that a host of the whole scheme hides.
  private func auditRoutes(_ sessionServer: SessionServer) async {
    let audit = await sessionServer.auditRoutes()
    for (names, message) in [
      (audit.handlers, "handlers without a route in the table"),
      (audit.undeclared, "routes of the app's code that are not in the table"),
    ] where !names.isEmpty {
      configuration.logger?.notice(
        "\(message)", metadata: ["routes": "\(names.prefix(20).joined(separator: ", "))"])
    }
    var reported: Set<String> = []
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.auditInterval) } catch { return }
      let undefined = await sessionServer.auditRoutes().undefined
      let hidden = undefined.filter { !reported.contains($0) }
        .prefix(Self.maxReportedSchemes - reported.count)
      guard !hidden.isEmpty else { continue }
      reported.formUnion(hidden)
      configuration.logger?.notice(
        "undefined targets are not reached while a client hosts the scheme; declare it as closed",
        metadata: ["schemes": "\(hidden.joined(separator: ", "))"])
    }
  }
}
