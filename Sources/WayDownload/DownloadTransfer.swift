import CWayCurl
import Foundation

/// libcurl's handle of one request, and its result. Used by one thread.
final class DownloadTransfer {
  /// libcurl's `CURL`.
  let handle: UnsafeMutableRawPointer
  /// The received body, at most ``DownloadOptions/maxSize`` bytes.
  private(set) var bytes: [UInt8] = []
  private let maxSize: Int
  private var exceedsLimit = false
  private let headers: UnsafeMutablePointer<curl_slist>?
  private let errorBuffer: UnsafeMutablePointer<CChar>
  private let content: DownloadContent

  /// Throws ``DownloadError`` if libcurl rejects the request.
  init(
    _ address: String, of source: DownloadURL, _ content: DownloadContent,
    options: DownloadOptions
  ) throws(DownloadError) {
    guard let handle = curl_easy_init() else {
      throw DownloadError(reason: "\(content.failure): libcurl cannot be initialized")
    }
    self.content = content
    maxSize = options.maxSize
    self.handle = handle
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    var headers: UnsafeMutablePointer<curl_slist>?
    // If a header cannot be appended, the list is unchanged: the server then sends the whole document,
    // or rejects one without a signature.
    for header in content.headers { headers = curl_slist_append(headers, header) ?? headers }
    self.headers = headers
    let receiver = Unmanaged.passUnretained(self).toOpaque()
    var codes = [
      way_curl_set_text(handle, CURLOPT_URL, address),
      way_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, source.url.scheme),
      way_curl_set_text(handle, CURLOPT_USERAGENT, options.userAgent),
      way_curl_set_list(handle, CURLOPT_HTTPHEADER, headers),
      // All encodings that libcurl supports; the limit applies to the decoded bytes.
      way_curl_set_text(handle, CURLOPT_ACCEPT_ENCODING, ""),
      way_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
      way_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorBuffer),
      way_curl_set_receiver(handle, Self.writeCallback, receiver),
    ]
    if case .json(let body, _) = content {
      // libcurl copies as many bytes as the size says, so that comes first.
      codes.append(way_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.count))
      codes.append(way_curl_set_bytes(handle, CURLOPT_COPYPOSTFIELDS, body))
    }
    // OpenSSL's variable, which libcurl does not read by itself.
    let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"].map { file in
      way_curl_set_text(handle, CURLOPT_CAINFO, file)
    }
    if let code = (codes + [authorities ?? CURLE_OK]).first(where: { $0 != CURLE_OK }) {
      let text = String(cString: curl_easy_strerror(code))
      throw DownloadError(reason: "\(content.failure): \(text)")
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

  /// The server's entity tag of the document (RFC 9110 §8.8.3); nil if there is none, or it has more
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
    let length = way_curl_length(handle)
    if length > maxSize { return "has \(length) bytes; at most \(maxSize) are allowed" }
    if exceedsLimit { return "has more than \(maxSize) bytes" }
    let text = String(cString: errorBuffer)
    return content.failure + ": "
      + (text.isEmpty ? String(cString: curl_easy_strerror(code)) : text)
  }

  /// A `curl_write_callback`; returning fewer bytes than were passed ends the transfer.
  private static let writeCallback: curl_write_callback = { part, size, count, receiver in
    guard let part, let receiver else { return 0 }
    let transfer = Unmanaged<DownloadTransfer>.fromOpaque(receiver).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: part, count: size * count)
    return transfer.append(bytes) ? bytes.count : 0
  }

  private func append(_ part: UnsafeRawBufferPointer) -> Bool {
    // The response to a sent document says nothing but its status.
    if case .json = content { return true }
    exceedsLimit = bytes.count + part.count > maxSize || way_curl_length(handle) > maxSize
    if !exceedsLimit { bytes += part }
    return !exceedsLimit
  }
}
