/// An HTTP request for a blob.
final class BlobRequest {
  const BlobRequest(this.method, this.url, this.headers, this.body);

  final String method;
  final Uri url;
  final Map<String, String> headers;

  /// The bytes to send; empty for none.
  final List<int> body;
}

/// The response to a [BlobRequest].
final class BlobResponse {
  const BlobResponse(this.status, this.headers, this.body);

  final int status;

  /// The headers, by their names in lower case.
  final Map<String, String> headers;

  /// The bytes, as they arrive. The client listens once.
  final Stream<List<int>> body;
}

/// Sends the HTTP requests for blobs. `BlobHttpClient` of
/// `package:waybridge/http.dart` sends them with the package `http`.
abstract interface class BlobHttp {
  /// Sends a request, and completes when the headers of its response have
  /// arrived. Throws if there is no response; the client then tries again.
  Future<BlobResponse> send(BlobRequest request);
}
