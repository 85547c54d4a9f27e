import Logging
import WaySession
import WayTable
import WayValues

extension BridgeServer {
  /// The interval of checks for routes that nothing serves.
  private static let auditInterval = Duration.seconds(10)
  /// The maximum number of schemes, which clients choose, in the log.
  private static let maxReportedSchemes = 20

  /// Watches the table while the server runs: its file, its changes, and the handlers and hosts
  /// that serve it. Ends when the task is cancelled.
  func watchTable(
    _ sessionServer: SessionServer, _ tableEvents: AsyncStream<LiveTable.TableEvent>?
  ) async {
    await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask { await self.auditRoutes(sessionServer) }
      if let table = configuration.sessions.table {
        tasks.addTask { await sessionServer.dispatch.publishTableChanges(await table.changes()) }
        if let tableEvents {
          tasks.addTask {
            await reportTableChanges(tableEvents, table.file, to: sessionServer.auditTrail)
          }
        }
        if configuration.sessions.watchesTableFile, let file = table.file {
          tasks.addTask { await watchTableFile(file, of: table) }
        }
      }
    }
  }

  private func watchTableFile(_ path: String, of table: LiveTable) async {
    var file = WatchedFile(path, limit: TableDocument.maxSize)
    // Changes between the start and now are applied too.
    _ = await applyTable(Result { () throws(FileError) in try file.read() }, path, table)
    await file.watch { content in _ = await applyTable(content, path, table) }
  }

  /// Applies the table that is in a file now.
  func reloadTable(from path: String, into table: LiveTable) async -> FileReload {
    var file = WatchedFile(path, limit: TableDocument.maxSize)
    let content = Result { () throws(FileError) in try file.read() }
    do throws(TableError) {
      if try await applyTable(content, path, table).get() == nil {
        configuration.logger?.info(
          "table not changed: its file has no new one", metadata: ["file": "\(path)"])
      }
      return FileReload(.table, path: path)
    } catch {
      return FileReload(.table, path: path, rejection: "\(error)")
    }
  }

  /// Returns the change that the content of a file has caused; nil if it is the table in force, or the
  /// last one that was in the file. The table reports a rejection.
  private func applyTable(
    _ content: Result<[UInt8], FileError>, _ path: String, _ table: LiveTable
  ) async -> Result<LiveTable.Change?, TableError> {
    let name = TableDocument.name(path)
    let document: Value
    do throws(TableError) {
      let bytes: [UInt8]
      do { bytes = try content.get() } catch {
        throw TableError(.unreadable, "\(name) \(error.reason)")
      }
      document = try TableDocument.parse(bytes, from: name)
    } catch {
      await table.reject(error, .file)
      return .failure(error)
    }
    do throws(TableError) {
      return .success(
        try await table.applyIfNew(document, cause: .file, at: BridgeWallClock.milliseconds()))
    } catch {
      return .failure(error)
    }
  }

  /// Logs the changes of the table, and records those that no client has requested. `file` is the
  /// table's file.
  private func reportTableChanges(
    _ events: AsyncStream<LiveTable.TableEvent>, _ file: String?, to auditTrail: AuditTrail?
  ) async {
    let logger = configuration.logger
    for await event in events {
      if let record = AuditRecord(event, file: file) { auditTrail?.record(record) }
      switch event {
      case .changed(let change):
        logger?.info(
          "table changed",
          metadata: [
            "version": "\(change.stamp.version)", "hash": "\(change.stamp.hash)",
            "cause": "\(change.cause.rawValue)", "previous": "\(change.previous.version)",
            "swapTime": "\(change.swapDuration)",
          ])
      // The client gets the reason, which may quote its params.
      case .rejected(_, .update), .rejected(_, .rollback): break
      case .rejected(let error, let cause):
        logger?.warning(
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
