/// Sends the requests for blobs with the package `http`.
library;

import 'package:http/http.dart' show Client, Request;

import 'src/blob_http.dart';

/// Adapts a [Client] of the package `http` to the interface of `Blobs`.
final class BlobHttpClient implements BlobHttp {
  BlobHttpClient([Client? client]) : _client = client ?? Client();

  final Client _client;

  @override
  Future<BlobResponse> send(BlobRequest request) async {
    final sent = Request(request.method, request.url);
    sent.followRedirects = false;
    sent.headers.addAll(request.headers);
    sent.bodyBytes = request.body;
    final response = await _client.send(sent);
    return BlobResponse(response.statusCode, response.headers, response.stream);
  }

  /// Closes the client. Requests that are under way fail.
  void close() => _client.close();
}
