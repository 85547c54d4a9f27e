import WayTransport

/// The reason why a request to `/blobs` is rejected.
package enum BlobRejection: Error, Hashable {
  case malformed(String)
  /// There is no such blob in the session of the client.
  case missing
  /// The blob is another client's.
  case notUploader
  case unsupportedType(String)
  /// The upload continues at another offset.
  case wrongOffset(expected: Int)
  /// Another request continues the upload.
  case superseded
  case complete
  /// The blob is longer than the limit, or than its announced length.
  case tooLong(Int)
  /// The session has as many blobs or bytes as it may.
  case sessionFull(String)
  /// The server has no space for more blobs.
  case serverFull
  case failed

  var response: HTTPResponse {
    var response = HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
    if case .wrongOffset(let expected) = self {
      response.fields = [("Upload-Offset", "\(expected)"), ("Upload-Complete", "?0")]
    }
    return response
  }

  private var status: Int {
    switch self {
    case .malformed, .complete: 400
    case .missing: 404
    case .notUploader: 403
    case .unsupportedType: 415
    case .wrongOffset, .superseded: 409
    case .tooLong: 413
    case .sessionFull: 429
    case .serverFull: 507
    case .failed: 500
    }
  }

  /// The reason as a sentence.
  var text: String {
    switch self {
    case .malformed(let reason), .unsupportedType(let reason), .sessionFull(let reason): reason
    case .missing: "there is no such blob in the session; it may have expired"
    case .notUploader:
      "the blob is another client's; only the client that has uploaded it continues its upload and "
        + "removes it"
    case .wrongOffset(let expected): "the upload continues at the offset \(expected)"
    case .superseded: "another request continues the upload"
    case .complete: "the upload is complete already"
    case .tooLong(let limit): "the blob is longer than \(limit) bytes"
    case .serverFull: "the server has no space for more blobs; try again later"
    case .failed: "the blob cannot be written or read"
    }
  }
}
