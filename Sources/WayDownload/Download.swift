import CWayCurl
import Foundation
import Synchronization

/// One request for a document, or one that sends a document, limited in bytes, in time and in
/// redirects.
///
/// It runs on a separate thread, with libcurl, which stops reading when its receiver has enough: an
/// endless source costs no more than the largest document.
package final class Download: Sendable {
  /// The result of a request.
  package enum DownloadResult: Sendable {
    /// The document, and its entity tag.
    case document([UInt8], etag: String?)
    /// The document has not changed.
    case notModified
  }

  /// The longest entity tag that is stored, in bytes.
  private static let maxETagLength = 1024
  private static let maxRedirects = 5
  /// libcurl's `CURLM`, while the request runs. The request may be cancelled from any thread.
  private struct DownloadState: @unchecked Sendable {
    var isCancelled = false
    var multi: UnsafeMutableRawPointer?
  }
  private let state = Mutex(DownloadState())
  private let source: DownloadURL
  private let content: DownloadContent
  private let options: DownloadOptions

  private init(_ source: DownloadURL, _ content: DownloadContent, options: DownloadOptions) {
    self.source = source
    self.content = content
    self.options = options
  }

  /// Requests a document. May be called from any thread, and blocks none of its callers.
  ///
  /// - Parameters:
  ///   - etag: the entity tag of the stored document; nil for none.
  ///   - time: the limit of the whole request.
  /// - Throws: ``DownloadError``, which describes the server's response.
  package static func get(
    _ source: DownloadURL, etag: String?, options: DownloadOptions, timeout time: Duration
  ) async throws(DownloadError) -> DownloadResult {
    let download = Download(source, .none(etag: etag), options: options)
    return try await download.perform { (download) throws(DownloadError) in
      try download.fetch(timeout: time)
    }
  }

  /// Sends a document with POST, follows no redirect, and returns the status of the response, whose
  /// body is ignored. May be called from any thread, and blocks none of its callers.
  ///
  /// - Parameters:
  ///   - headers: header fields of the request, each as `name: value`.
  ///   - time: the limit of the whole request.
  /// - Throws: ``DownloadError`` if there is no response.
  package static func post(
    _ body: [UInt8], to target: DownloadURL, headers: [String], options: DownloadOptions,
    timeout time: Duration
  ) async throws(DownloadError) -> Int {
    let download = Download(target, .json(body, headers: headers), options: options)
    return try await download.perform { (download) throws(DownloadError) in
      try download.send(timeout: time)
    }
  }

  /// Runs the request on a thread of its own.
  private func perform<Success: Sendable>(
    _ run: @escaping @Sendable (Download) throws(DownloadError) -> Success
  ) async throws(DownloadError) -> Success {
    let result: Result<Success, DownloadError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          do throws(DownloadError) {
            continuation.resume(returning: .success(try run(self)))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
    } onCancel: {
      self.cancel()
    }
    return try result.get()
  }

  private func cancel() {
    state.withLock { state in
      state.isCancelled = true
      if let multi = state.multi { curl_multi_wakeup(multi) }
    }
  }

  private func fetch(timeout time: Duration) throws(DownloadError) -> DownloadResult {
    let end = ContinuousClock.now + time
    var address = source.description
    for _ in 0...Self.maxRedirects {
      let transfer = try DownloadTransfer(address, of: source, content, options: options)
      try perform(transfer, until: end, of: time)
      switch transfer.status {
      case 200: return .document(transfer.bytes, etag: transfer.etag(maxSize: Self.maxETagLength))
      case 304 where content.etag != nil: return .notModified
      case 304:
        throw DownloadError(
          reason: "cannot be fetched: the server answered 304 to a request without a condition")
      case let status:
        guard let next = transfer.redirect else {
          throw DownloadError(reason: "cannot be fetched: the server answered \(status)")
        }
        // A redirect must not lead from a protected address to one that is not.
        guard let url = try? DownloadURL(next), url.url.scheme == source.url.scheme else {
          throw DownloadError(reason: "cannot be fetched: it redirects to an unprotected URL")
        }
        address = next
      }
    }
    throw DownloadError(
      reason: "cannot be fetched: it redirects more than \(Self.maxRedirects) times")
  }

  private func send(timeout time: Duration) throws(DownloadError) -> Int {
    let transfer = try DownloadTransfer(source.description, of: source, content, options: options)
    try perform(transfer, until: .now + time, of: time)
    return transfer.status
  }

  private func perform(
    _ transfer: DownloadTransfer, until end: ContinuousClock.Instant, of time: Duration
  ) throws(DownloadError) {
    guard let multi = curl_multi_init() else {
      throw DownloadError(reason: "\(content.failure): libcurl has no memory")
    }
    state.withLock { $0.multi = multi }
    defer {
      state.withLock { $0.multi = nil }
      curl_multi_cleanup(multi)
    }
    var code = curl_multi_add_handle(multi, transfer.handle)
    defer { curl_multi_remove_handle(multi, transfer.handle) }
    var count: Int32 = 1
    while code == CURLM_OK {
      code = curl_multi_perform(multi, &count)
      guard code == CURLM_OK, count > 0 else { break }
      let left = end - .now
      guard left > .zero else {
        throw DownloadError(reason: "did not answer within \(time.components.seconds) s")
      }
      guard !state.withLock({ $0.isCancelled }) else {
        throw DownloadError(reason: "\(content.failure): the request was cancelled")
      }
      code = curl_multi_poll(multi, nil, 0, Int32(min(left / .milliseconds(1) + 1, 1000)), nil)
    }
    guard code == CURLM_OK else {
      throw DownloadError(
        reason: "\(content.failure): \(String(cString: curl_multi_strerror(code)))")
    }
    var waiting: Int32 = 0
    guard let message = curl_multi_info_read(multi, &waiting), message.pointee.msg == CURLMSG_DONE
    else { throw DownloadError(reason: "\(content.failure): libcurl returned no result") }
    if let reason = transfer.failureReason(message.pointee.data.result) {
      throw DownloadError(reason: reason)
    }
  }
}

/// The part of a request besides its address.
enum DownloadContent: Sendable {
  /// A request for a document. `etag` is the entity tag of the stored one.
  case none(etag: String?)
  /// A JSON document to send, and header fields as `name: value`.
  case json([UInt8], headers: [String])

  /// The beginning of the reason for a failure.
  var failure: String {
    switch self {
    case .none: "cannot be fetched"
    case .json: "cannot be reached"
    }
  }

  /// The entity tag of the stored document.
  var etag: String? { if case .none(let etag) = self { etag } else { nil } }

  /// The header fields of the request.
  var headers: [String] {
    switch self {
    case .none(let etag):
      ["Accept: application/json"] + (etag.map { ["If-None-Match: \($0)"] } ?? [])
    // libcurl would wait for the status 100 before it sends a large body.
    case .json(_, let headers): ["Content-Type: application/json", "Expect:"] + headers
    }
  }
}

/// Settings of a request that are the same for all documents of a kind.
package struct DownloadOptions: Sendable {
  /// The largest size of a document in bytes, after decompression.
  let maxSize: Int
  /// The header field `User-Agent` of the request.
  let userAgent: String

  /// Creates settings of a request.
  package init(maxSize: Int, userAgent: String) {
    self.maxSize = maxSize
    self.userAgent = userAgent
  }
}

/// The reason why a document was not fetched.
package struct DownloadError: Error, Sendable, Hashable {
  /// The end of a sentence that begins with the document's name: "did not answer within 10 s".
  package let reason: String

  /// Creates an error.
  package init(reason: String) { self.reason = reason }
}
