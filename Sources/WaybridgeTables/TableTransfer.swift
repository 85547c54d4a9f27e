import CWayCurl
import Foundation
import Waybridge

/// libcurl's handle of one request and what has come of it. Used by one thread.
final class TableTransfer {
  /// libcurl's `CURL`.
  let handle: UnsafeMutableRawPointer
  /// The body so far, at most the largest table's.
  private(set) var bytes: [UInt8] = []
  private var isTooLong = false
  private let headers: UnsafeMutablePointer<curl_slist>?
  private let reason: UnsafeMutablePointer<CChar>

  /// Throws `TableError` where libcurl does not take the request.
  init(_ address: String, of source: TableURL, etag: String?) throws(TableError) {
    guard let handle = curl_easy_init() else {
      throw TableError(
        .unreadable, "The table at \(source) cannot be had: libcurl cannot be initialized")
    }
    self.handle = handle
    reason = .allocate(capacity: Int(CURL_ERROR_SIZE))
    reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    var headers = curl_slist_append(nil, "Accept: application/json")
    // What cannot be appended leaves the list as it was: the table is then asked for as a whole.
    if let etag { headers = curl_slist_append(headers, "If-None-Match: \(etag)") ?? headers }
    self.headers = headers
    let receiver = Unmanaged.passUnretained(self).toOpaque()
    let codes = [
      way_curl_set_text(handle, CURLOPT_URL, address),
      way_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, source.url.scheme),
      way_curl_set_text(handle, CURLOPT_USERAGENT, "waybridge/\(BridgeServer.version)"),
      way_curl_set_list(handle, CURLOPT_HTTPHEADER, headers),
      // What it has, decoded: the limit is of the decoded bytes.
      way_curl_set_text(handle, CURLOPT_ACCEPT_ENCODING, ""),
      way_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
      way_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, reason),
      way_curl_set_receiver(handle, Self.receive, receiver),
    ]
    // OpenSSL's variable, which libcurl does not read by itself.
    let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"].map { file in
      way_curl_set_text(handle, CURLOPT_CAINFO, file)
    }
    if let code = (codes + [authorities ?? CURLE_OK]).first(where: { $0 != CURLE_OK }) {
      let text = String(cString: curl_easy_strerror(code))
      throw TableError(.unreadable, "The table at \(source) cannot be had: \(text)")
    }
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headers)
    reason.deallocate()
  }

  /// The status of the answer (RFC 9110 §15).
  var status: Int { way_curl_status(handle) }

  /// Where the answer leads to, resolved; nil for one that leads nowhere.
  var redirect: String? { way_curl_redirect(handle).map { String(cString: $0) } }

  /// What the server calls the table (RFC 9110 §8.8.3); nil where it says nothing, or more than
  /// `maxSize` bytes.
  func etag(maxSize: Int) -> String? {
    var header: UnsafeMutablePointer<curl_header>?
    guard curl_easy_header(handle, "etag", 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK,
      let value = header?.pointee.value, strlen(value) <= maxSize
    else { return nil }
    return String(cString: value)
  }

  /// Why it has failed, in words; nil for success.
  func fault(_ code: CURLcode) -> String? {
    guard code != CURLE_OK else { return nil }
    let max = TableDocument.maxSize
    let length = way_curl_length(handle)
    if length > max { return "has \(length) bytes, more than \(max)" }
    if isTooLong { return "has more than \(max) bytes" }
    let text = String(cString: reason)
    return "cannot be had: " + (text.isEmpty ? String(cString: curl_easy_strerror(code)) : text)
  }

  /// A `curl_write_callback`; fewer bytes than were given end the transfer.
  private static let receive: curl_write_callback = { part, size, count, receiver in
    guard let part, let receiver else { return 0 }
    let transfer = Unmanaged<TableTransfer>.fromOpaque(receiver).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: part, count: size * count)
    return transfer.take(bytes) ? bytes.count : 0
  }

  private func take(_ part: UnsafeRawBufferPointer) -> Bool {
    let max = TableDocument.maxSize
    isTooLong = bytes.count + part.count > max || way_curl_length(handle) > max
    if !isTooLong { bytes += part }
    return !isTooLong
  }
}
