import Logging
import ServiceLifecycle
import WayTable
import Waybridge

/// Fetches a router's table over HTTPS: at the start, and again while it serves.
///
/// ```swift
/// import Logging
/// import ServiceLifecycle
///
/// let router = Router()
/// let fetcher = try await TableFetcher.start("https://example.org/routes.json", for: router)
/// try router.handle("time", with: .task { _ in "noon" })
/// var configuration = BridgeConfiguration()
/// configuration.table = fetcher.table
/// let server = BridgeServer(router: router, configuration: configuration)
/// let group = ServiceGroup(services: [fetcher, server], logger: Logger(label: "shop"))
/// try await group.run()
/// ```
///
/// The last good table is kept on the disk, and is what a server begins with whose source is away. A
/// table that is wrong, or of a version before the one in force, is refused whole: the one in force
/// stays, and `BridgeConfiguration.logger` and the metrics tell.
public struct TableFetcher: Service {
  /// How long one request may take.
  private static let patience = Duration.seconds(30)
  private static let minPause = Duration.seconds(1)

  /// The table, for `BridgeConfiguration.table`.
  public let table: LiveTable
  /// Where it comes from.
  public let source: TableURL
  private let cache: TableCache
  private let period: Duration
  private let logger: Logger?
  /// What the server calls the table that is in force.
  private let etag: String?

  /// Fetches the table and registers its routes, see `Router.load(tableAt:)`.
  ///
  /// - Parameters:
  ///   - address: an `https` URL, or an `http` one of this machine's loopback.
  ///   - router: has no table yet.
  ///   - folder: where the last good table is kept; by default `~/.cache/waybridge/tables`, or the
  ///     folder that `XDG_CACHE_HOME` says.
  ///   - period: how long after each answer it is asked for again, at least a second. After a failure
  ///     it is a second, doubled with each failure up to this.
  ///   - patience: how long the first answer is waited for.
  ///   - logger: is told where the source is away.
  /// - Throws: `TableError` where there is no table: the source is away, or what it has is wrong,
  ///   and none was kept.
  public static func start(
    _ address: String, for router: Router, keptIn folder: String? = nil,
    every period: Duration = .seconds(60), patience: Duration = .seconds(10),
    logger: Logger? = nil
  ) async throws(TableError) -> TableFetcher {
    let source = try TableURL(address)
    let cache = try TableCache(folder: folder ?? TableCache.usualFolder)
    let kept = cache.read(source)
    var table: LiveTable?
    if let kept {
      do throws(TableError) {
        table = try router.load(table: kept.document, from: "The kept table of \(source)")
      } catch {
        logger?.warning("kept table left out", metadata: ["reason": "\(error)"])
      }
    }
    var etag = table == nil ? nil : kept?.etag
    do throws(TableError) {
      if case .table(let bytes, let tag) = try await TableDownload.get(
        source, etag: etag, within: patience)
      {
        let document = try TableDocument.parse(bytes, from: "The table at \(source)")
        if let table {
          _ = try await table.take(document, cause: .fetch, at: 0)
        } else {
          table = try router.load(table: document, from: "The table at \(source)")
        }
        etag = tag
        try cache.write(document, etag: tag, of: source)
      }
    } catch {
      guard table != nil else { throw error }
      logger?.warning(
        "table not fetched, the last good one is used", metadata: ["reason": "\(error)"])
    }
    guard let table else {
      throw TableError(.unreadable, "The table at \(source) is not there")
    }
    return TableFetcher(
      table: table, source: source, cache: cache, period: max(period, minPause), logger: logger,
      etag: etag)
  }

  /// Fetches the table again and again, until a graceful shutdown or the cancellation of the task.
  public func run() async {
    await cancelWhenGracefulShutdown {
      var pause = period
      var etag = self.etag
      while !Task.isCancelled {
        do { try await Task.sleep(for: pause) } catch { return }
        do throws(TableError) {
          etag = try await fetch(etag)
          pause = period
        } catch {
          guard !Task.isCancelled else { return }
          // Many servers do not come back at one moment.
          let next = pause == period ? Self.minPause : min(pause * 2, period)
          pause = next * Double.random(in: 0.5...1)
          if pause < Self.minPause { pause = Self.minPause }
          logger?.warning("table not fetched", metadata: ["reason": "\(error)"])
        }
      }
    }
  }

  /// Takes the table where it is another; gives what the server calls it.
  private func fetch(_ etag: String?) async throws(TableError) -> String? {
    guard
      case .table(let bytes, let tag) = try await TableDownload.get(
        source, etag: etag, within: Self.patience)
    else { return etag }
    let document: Value
    do throws(TableError) {
      document = try TableDocument.parse(bytes, from: "The table at \(source)")
    } catch {
      await table.refuse(error, .fetch)
      return tag
    }
    // A wrong one is told by the table; it is not asked for again until it is another.
    guard
      let change = try? await table.take(
        document, cause: .fetch, at: ServerWallClock.milliseconds())
    else { return tag }
    logger?.debug("table fetched", metadata: ["version": "\(change.stamp.version)"])
    try cache.write(document, etag: tag, of: source)
    return tag
  }
}
