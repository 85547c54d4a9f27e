import CWayCurl
import Foundation
import Synchronization
import Waybridge

/// One request for a table, which is bounded in bytes and in time.
///
/// It runs on a thread of its own, with libcurl, which reads no further where its receiver has
/// enough: a source that never ends costs no more than the largest table.
final class TableDownload: Sendable {
  /// What a server answers.
  enum Answer: Sendable {
    /// The table, and what it is called.
    case table([UInt8], etag: String?)
    /// It is what was got before.
    case unchanged
  }

  /// The longest name of a version that is kept.
  private static let maxTag = 1024
  private static let maxRedirects = 5
  /// libcurl's `CURLM`, while the request runs; what ends it may come from any thread.
  private struct Running: @unchecked Sendable {
    var isCancelled = false
    var multi: UnsafeMutableRawPointer?
  }
  private let running = Mutex(Running())
  private let source: TableURL
  private let etag: String?

  private init(_ source: TableURL, etag: String?) {
    self.source = source
    self.etag = etag
  }

  /// Asks for a table.
  ///
  /// - Parameters:
  ///   - etag: what the table is called that is there already; nil for none.
  ///   - time: how long it may take in all.
  /// - Throws: ``TableError``, which says what the server did.
  static func get(
    _ source: TableURL, etag: String?, within time: Duration
  ) async throws(TableError) -> Answer {
    let download = TableDownload(source, etag: etag)
    let result: Result<Answer, TableError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          do throws(TableError) {
            continuation.resume(returning: .success(try download.run(within: time)))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
    } onCancel: {
      download.cancel()
    }
    return try result.get()
  }

  private func cancel() {
    running.withLock { running in
      running.isCancelled = true
      if let multi = running.multi { curl_multi_wakeup(multi) }
    }
  }

  private func wrong(_ reason: String) -> TableError {
    TableError(.unreadable, "The table at \(source) \(reason)")
  }

  private func run(within time: Duration) throws(TableError) -> Answer {
    guard let multi = curl_multi_init() else { throw wrong("cannot be had: libcurl has no memory") }
    running.withLock { $0.multi = multi }
    defer {
      running.withLock { $0.multi = nil }
      curl_multi_cleanup(multi)
    }
    let end = ContinuousClock.now + time
    var address = source.description
    for _ in 0...Self.maxRedirects {
      let transfer = try TableTransfer(address, of: source, etag: etag)
      try perform(transfer, in: multi, until: end, of: time)
      switch transfer.status {
      case 200: return .table(transfer.bytes, etag: transfer.etag(maxSize: Self.maxTag))
      case 304 where etag != nil: return .unchanged
      case 304: throw wrong("is not changed, says the server (304), which was not asked for that")
      case let status:
        guard let next = transfer.redirect else {
          throw wrong("cannot be had: the server answers \(status)")
        }
        // Nobody is led from a protected address to one that is not.
        guard let url = try? TableURL(next), url.url.scheme == source.url.scheme else {
          throw wrong("leads to another place, which is not protected as well")
        }
        address = next
      }
    }
    throw wrong("cannot be had: it leads on more than \(Self.maxRedirects) times")
  }

  private func perform(
    _ transfer: TableTransfer, in multi: UnsafeMutableRawPointer,
    until end: ContinuousClock.Instant, of time: Duration
  ) throws(TableError) {
    var code = curl_multi_add_handle(multi, transfer.handle)
    defer { curl_multi_remove_handle(multi, transfer.handle) }
    var count: Int32 = 1
    while code == CURLM_OK {
      code = curl_multi_perform(multi, &count)
      guard code == CURLM_OK, count > 0 else { break }
      let left = end - .now
      guard left > .zero else {
        throw wrong("did not answer within \(time.components.seconds) s")
      }
      guard !running.withLock({ $0.isCancelled }) else { throw wrong("was not waited for") }
      code = curl_multi_poll(multi, nil, 0, Int32(min(left / .milliseconds(1) + 1, 1000)), nil)
    }
    guard code == CURLM_OK else {
      throw wrong("cannot be had: \(String(cString: curl_multi_strerror(code)))")
    }
    var waiting: Int32 = 0
    guard let message = curl_multi_info_read(multi, &waiting), message.pointee.msg == CURLMSG_DONE
    else { throw wrong("cannot be had: libcurl has ended without a result") }
    if let reason = transfer.fault(message.pointee.data.result) { throw wrong(reason) }
  }
}
