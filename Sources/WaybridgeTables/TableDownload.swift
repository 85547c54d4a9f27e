import Foundation
import FoundationNetworking
import Synchronization
import Waybridge

/// One request for a table, which is bounded in bytes and in time.
final class TableDownload: NSObject, URLSessionDataDelegate, Sendable {
  /// What a server answers.
  enum Answer: Sendable {
    /// The table, and what it is called.
    case table([UInt8], etag: String?)
    /// It is what was got before.
    case unchanged
  }

  private struct State {
    var bytes: [UInt8] = []
    var fault: String?
    var waiting: CheckedContinuation<Answer, any Error>?
  }

  /// The longest name of a version that is kept.
  private static let maxTag = 1024
  private let state = Mutex(State())
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
  ///   - time: how long it may take in all, at least a second.
  /// - Throws: ``TableError``, which says what the server did.
  static func get(
    _ source: TableURL, etag: String?, within time: Duration
  ) async throws(TableError) -> Answer {
    let configuration = URLSessionConfiguration.ephemeral
    let seconds = max(1, Double(time.components.seconds))
    configuration.timeoutIntervalForRequest = seconds
    configuration.timeoutIntervalForResource = seconds
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    let download = TableDownload(source, etag: etag)
    let session = URLSession(configuration: configuration, delegate: download, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    var request = URLRequest(url: source.url, cachePolicy: .reloadIgnoringLocalCacheData)
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    request.setValue("waybridge/\(BridgeServer.version)", forHTTPHeaderField: "User-Agent")
    if let etag { request.setValue(etag, forHTTPHeaderField: "If-None-Match") }
    let task = session.dataTask(with: request)
    // What sends a byte now and then is ended too.
    let deadline = Task {
      try await Task.sleep(for: .seconds(seconds))
      download.fail("did not answer within \(Int(seconds)) s")
      task.cancel()
    }
    defer { deadline.cancel() }
    do {
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          download.state.withLock { $0.waiting = continuation }
          task.resume()
        }
      } onCancel: {
        download.fail("was not waited for")
        task.cancel()
      }
    } catch let error as TableError {
      throw error
    } catch {
      throw TableError(.unreadable, "The table at \(source): \(error.localizedDescription)")
    }
  }

  /// The first fault is the one that is told.
  private func fail(_ reason: String) {
    state.withLock { $0.fault = $0.fault ?? reason }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    // Nobody is led from a protected address to one that is not.
    guard let text = request.url?.absoluteString, (try? TableURL(text)) != nil,
      request.url?.scheme == source.url.scheme
    else {
      fail("leads to another place, which is not protected as well")
      return completionHandler(nil)
    }
    completionHandler(request)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    if response.expectedContentLength > Int64(TableDocument.maxSize) {
      fail("has \(response.expectedContentLength) bytes, more than \(TableDocument.maxSize)")
      return completionHandler(.cancel)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = state.withLock { state in
      guard state.bytes.count + data.count <= TableDocument.maxSize else { return true }
      state.bytes += data
      return false
    }
    guard isTooLong else { return }
    fail("has more than \(TableDocument.maxSize) bytes")
    dataTask.cancel()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let (bytes, fault, waiting) = state.withLock { state in
      defer { state.waiting = nil }
      return (state.bytes, state.fault, state.waiting)
    }
    guard let waiting else { return }
    do {
      if let reason = fault ?? error.map({ "cannot be had: \($0.localizedDescription)" }) {
        throw TableError(.unreadable, "The table at \(source) \(reason)")
      }
      waiting.resume(returning: try answer(task.response as? HTTPURLResponse, bytes))
    } catch {
      waiting.resume(throwing: error)
    }
  }

  private func answer(
    _ response: HTTPURLResponse?, _ bytes: [UInt8]
  ) throws(TableError) -> Answer {
    func wrong(_ reason: String) -> TableError {
      TableError(.unreadable, "The table at \(source) \(reason)")
    }
    switch response?.statusCode {
    case 200:
      let tag = response?.value(forHTTPHeaderField: "ETag").flatMap { tag in
        tag.utf8.count <= Self.maxTag ? tag : nil
      }
      return .table(bytes, etag: tag)
    case 304 where etag != nil: return .unchanged
    case 304: throw wrong("is not changed, says the server (304), which was not asked for that")
    case let status?: throw wrong("cannot be had: the server answers \(status)")
    case nil: throw wrong("cannot be had: the server answers something else than HTTP")
    }
  }
}
