import Logging
import ServiceLifecycle
import WayTable
import Waybridge

/// Fetches a router's table over HTTPS: at the start, and periodically while it serves.
///
/// ```swift
/// import Logging
/// import ServiceLifecycle
///
/// let router = Router()
/// let fetcher = try await TableFetcher.load("https://example.org/routes.json", for: router)
/// try router.handle("time", with: .task { _ in "noon" })
/// var configuration = BridgeConfiguration()
/// configuration.sessions.table = fetcher.table
/// let server = BridgeServer(router: router, configuration: configuration)
/// let group = ServiceGroup(services: [fetcher, server], logger: Logger(label: "shop"))
/// try await group.run()
/// ```
///
/// The last good table is stored on the disk, and a server starts with it if the source is
/// unavailable. A table that is invalid, or of a version before the current one, is rejected as a
/// whole. The current table stays, and `BridgeConfiguration.logger` and the metrics report the
/// rejection.
public struct TableFetcher: Service {
  /// The timeout of one request.
  private static let requestTimeout = Duration.seconds(30)
  private static let minInterval = Duration.seconds(1)

  /// The table, for `BridgeConfiguration.sessions.table`.
  public let table: LiveTable
  /// The address of the table.
  public let source: TableURL
  private let cache: TableCache
  private let interval: Duration
  private let logger: Logger?
  /// The server's entity tag of the current table.
  private let etag: String?

  /// Fetches the table and registers its routes, see `Router.load(tableAt:)`.
  ///
  /// - Parameters:
  ///   - address: an `https` URL, or an `http` URL of this machine's loopback.
  ///   - router: a router without a table.
  ///   - folder: the folder of the last good table; by default `~/.cache/waybridge/tables`, or
  ///     `waybridge/tables` in the folder of `XDG_CACHE_HOME`.
  ///   - period: the time from each response to the next request, at least a second. After a
  ///     failure it is a second, doubled with each failure up to this.
  ///   - timeout: the timeout of the first request.
  ///   - logger: logs when the source is unavailable.
  /// - Throws: `TableError` if there is no table: the source is unavailable or has an invalid
  ///   table, and none was stored.
  public static func load(
    _ address: String, for router: Router, cacheFolder folder: String? = nil,
    every period: Duration = .seconds(60), timeout: Duration = .seconds(10),
    logger: Logger? = nil
  ) async throws(TableError) -> TableFetcher {
    let source = try TableURL(address)
    let cache = try TableCache(folder: folder ?? TableCache.defaultFolder)
    let cached = cache.read(source)
    var table: LiveTable?
    if let cached {
      do throws(TableError) {
        table = try router.load(table: cached.document, from: "The stored table of \(source)")
      } catch {
        logger?.warning("stored table ignored", metadata: ["reason": "\(error)"])
      }
    }
    var etag = table == nil ? nil : cached?.etag
    do throws(TableError) {
      if case .document(let bytes, let tag) = try await source.fetch(
        etag: etag, timeout: timeout)
      {
        let document = try TableDocument.parse(bytes, from: "The table at \(source)")
        if let table {
          _ = try await table.applyIfNew(document, cause: .fetch, at: 0)
        } else {
          table = try router.load(table: document, from: "The table at \(source)")
        }
        etag = tag
        try cache.write(document, etag: tag, of: source)
      }
    } catch {
      guard table != nil else { throw error }
      logger?.warning(
        "table not fetched; the last valid one is used", metadata: ["reason": "\(error)"])
    }
    guard let table else {
      throw TableError(.unreadable, "The table at \(source) does not exist")
    }
    return TableFetcher(
      table: table, source: source, cache: cache, interval: max(period, minInterval),
      logger: logger,
      etag: etag)
  }

  /// Fetches the table periodically, until a graceful shutdown or the cancellation of the task.
  public func run() async {
    await cancelWhenGracefulShutdown {
      var pause = interval
      var etag = self.etag
      while !Task.isCancelled {
        do { try await Task.sleep(for: pause) } catch { return }
        do throws(TableError) {
          etag = try await fetch(etag)
          pause = interval
        } catch {
          guard !Task.isCancelled else { return }
          // Random, so that many servers do not retry at the same time.
          let next = pause == interval ? Self.minInterval : min(pause * 2, interval)
          pause = next * Double.random(in: 0.5...1)
          if pause < Self.minInterval { pause = Self.minInterval }
          logger?.warning("table not fetched", metadata: ["reason": "\(error)"])
        }
      }
    }
  }

  /// Applies the table if it differs from the current one; returns the server's entity tag.
  private func fetch(_ etag: String?) async throws(TableError) -> String? {
    guard
      case .document(let bytes, let tag) = try await source.fetch(
        etag: etag, timeout: Self.requestTimeout)
    else { return etag }
    let document: Value
    do throws(TableError) {
      document = try TableDocument.parse(bytes, from: "The table at \(source)")
    } catch {
      await table.reject(error, .fetch)
      return tag
    }
    // The table reports an invalid document; it is not requested again until it changes.
    guard
      let change = try? await table.applyIfNew(
        document, cause: .fetch, at: BridgeWallClock.milliseconds())
    else { return tag }
    logger?.debug("table fetched", metadata: ["version": "\(change.stamp.version)"])
    try cache.write(document, etag: tag, of: source)
    return tag
  }
}
