import CWayCurl
import Foundation
import Waybridge

/// libcurl's handle of one request, and its result. Used by one thread.
final class TableTransfer {
  /// libcurl's `CURL`.
  let handle: UnsafeMutableRawPointer
  /// The received body, at most the size of the largest table.
  private(set) var bytes: [UInt8] = []
  private var exceedsLimit = false
  private let headers: UnsafeMutablePointer<curl_slist>?
  private let errorBuffer: UnsafeMutablePointer<CChar>

  /// Throws `TableError` if libcurl rejects the request.
  init(_ address: String, of source: TableURL, etag: String?) throws(TableError) {
    guard let handle = curl_easy_init() else {
      throw TableError(
        .unreadable, "The table at \(source) cannot be fetched: libcurl cannot be initialized")
    }
    self.handle = handle
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    var headers = curl_slist_append(nil, "Accept: application/json")
    // If the header cannot be appended, the list is unchanged: the whole table is then requested.
    if let etag { headers = curl_slist_append(headers, "If-None-Match: \(etag)") ?? headers }
    self.headers = headers
    let receiver = Unmanaged.passUnretained(self).toOpaque()
    let codes = [
      way_curl_set_text(handle, CURLOPT_URL, address),
      way_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, source.url.scheme),
      way_curl_set_text(handle, CURLOPT_USERAGENT, "waybridge/\(BridgeServer.version)"),
      way_curl_set_list(handle, CURLOPT_HTTPHEADER, headers),
      // All encodings that libcurl supports; the limit applies to the decoded bytes.
      way_curl_set_text(handle, CURLOPT_ACCEPT_ENCODING, ""),
      way_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
      way_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorBuffer),
      way_curl_set_receiver(handle, Self.writeCallback, receiver),
    ]
    // OpenSSL's variable, which libcurl does not read by itself.
    let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"].map { file in
      way_curl_set_text(handle, CURLOPT_CAINFO, file)
    }
    if let code = (codes + [authorities ?? CURLE_OK]).first(where: { $0 != CURLE_OK }) {
      let text = String(cString: curl_easy_strerror(code))
      throw TableError(.unreadable, "The table at \(source) cannot be fetched: \(text)")
    }
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headers)
    errorBuffer.deallocate()
  }

  /// The status of the response (RFC 9110 §15).
  var status: Int { way_curl_status(handle) }

  /// The resolved target of a redirect; nil for other responses.
  var redirect: String? { way_curl_redirect(handle).map { String(cString: $0) } }

  /// The server's entity tag of the table (RFC 9110 §8.8.3); nil if there is none, or it has more
  /// than `maxSize` bytes.
  func etag(maxSize: Int) -> String? {
    var header: UnsafeMutablePointer<curl_header>?
    guard curl_easy_header(handle, "etag", 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK,
      let value = header?.pointee.value, strlen(value) <= maxSize
    else { return nil }
    return String(cString: value)
  }

  /// The reason for a failure, as text; nil for success.
  func failureReason(_ code: CURLcode) -> String? {
    guard code != CURLE_OK else { return nil }
    let max = TableDocument.maxSize
    let length = way_curl_length(handle)
    if length > max { return "has \(length) bytes; at most \(max) are allowed" }
    if exceedsLimit { return "has more than \(max) bytes" }
    let text = String(cString: errorBuffer)
    return "cannot be fetched: " + (text.isEmpty ? String(cString: curl_easy_strerror(code)) : text)
  }

  /// A `curl_write_callback`; returning fewer bytes than were passed ends the transfer.
  private static let writeCallback: curl_write_callback = { part, size, count, receiver in
    guard let part, let receiver else { return 0 }
    let transfer = Unmanaged<TableTransfer>.fromOpaque(receiver).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: part, count: size * count)
    return transfer.append(bytes) ? bytes.count : 0
  }

  private func append(_ part: UnsafeRawBufferPointer) -> Bool {
    let max = TableDocument.maxSize
    exceedsLimit = bytes.count + part.count > max || way_curl_length(handle) > max
    if !exceedsLimit { bytes += part }
    return !exceedsLimit
  }
}
