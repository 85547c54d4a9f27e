import Logging
import WaySession
import WayTable

extension BridgeServer {
  /// How often is looked for what nobody serves.
  private static let recheckPeriod = Duration.seconds(10)

  /// Follows the table while the server runs: its file, what is told of its changes, and who serves
  /// it. Ends when the task is cancelled.
  func followTable(_ group: SessionServer) async {
    await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask { await self.recheck(group) }
      if let table = configuration.table {
        tasks.addTask { await group.tell(await table.changes()) }
        tasks.addTask { await log(table) }
        if configuration.followsTableFile, let file = table.file {
          tasks.addTask { await follow(file, of: table) }
        }
      }
    }
  }

  private func follow(_ path: String, of table: LiveTable) async {
    var file = WatchedFile(path, limit: TableDocument.maxSize)
    // What changed between the start and now is taken too.
    await take(Result { () throws(FileFault) in try file.read() }, path, table)
    await file.watch { content in await take(content, path, table) }
  }

  /// Takes what a file says now.
  func takeTable(from path: String, into table: LiveTable) async {
    var file = WatchedFile(path, limit: TableDocument.maxSize)
    await take(Result { () throws(FileFault) in try file.read() }, path, table)
  }

  private func take(
    _ content: Result<[UInt8], FileFault>, _ path: String, _ table: LiveTable
  ) async {
    let name = TableDocument.name(path)
    do throws(TableError) {
      let bytes: [UInt8]
      do { bytes = try content.get() } catch {
        throw TableError(.unreadable, "\(name) \(error.reason)")
      }
      let document = try TableDocument.parse(bytes, from: name)
      _ = try? await table.take(document, cause: .file, at: ServerWallClock.milliseconds())
    } catch {
      await table.refuse(error, .file)
    }
  }

  private func log(_ table: LiveTable) async {
    guard let logger = configuration.logger else { return }
    for await news in await table.news() {
      switch news {
      case .changed(let change):
        logger.info(
          "table changed",
          metadata: [
            "version": "\(change.stamp.version)", "hash": "\(change.stamp.hash)",
            "cause": "\(change.cause.rawValue)", "previous": "\(change.previous.version)",
            "swapTime": "\(change.swapTime)",
          ])
      case .refused(let error, let cause):
        logger.warning(
          "table refused, the one in force stays",
          metadata: ["cause": "\(cause.rawValue)", "reason": "\(error)"])
      }
    }
  }

  /// Compares what is declared with who is there, for the metrics; tells the log of what code alone
  /// decides.
  private func recheck(_ group: SessionServer) async {
    let found = await group.recheck()
    for (names, message) in [
      (found.handlers, "handlers of routes that the table does not have"),
      (found.undeclared, "routes of the app's code that the table does not have"),
    ] where !names.isEmpty {
      configuration.logger?.notice(
        "\(message)", metadata: ["routes": "\(names.prefix(20).joined(separator: ", "))"])
    }
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.recheckPeriod) } catch { return }
      await group.recheck()
    }
  }
}
