import 'dart:async';
import 'dart:convert';
import 'dart:math';

import 'package:waybridge/src/blob_http.dart';
import 'package:waybridge/src/values.dart';

/// A server of blobs in memory, whose connections can be cut.
final class FakeBlobServer implements BlobHttp {
  /// The finished blobs and the uploads, by the last part of their URL.
  final Map<String, List<int>> blobs = <String, List<int>>{};

  /// The requests, such as `PATCH 0 ?1`.
  final List<String> log = <String>[];

  /// The types of the uploads.
  final List<String> types = <String>[];

  /// The tokens of the requests.
  final Set<String> tokens = <String>{};

  /// The statuses of the next responses; 0 has no response, and 1 none after
  /// the server has carried the request out.
  final List<int> failures = <int>[];

  /// The next downloads are cut after this number of bytes.
  final List<int> cuts = <int>[];

  /// If it is not null, requests with [heldMethod] wait for it.
  Completer<void>? held;
  String heldMethod = '';

  /// The body of the last download.
  StreamController<List<int>>? download;

  @override
  Future<BlobResponse> send(BlobRequest request) async {
    final headers = request.headers;
    tokens.add(headers['Authorization'] ?? '');
    final id = request.url.toString().split('/').last;
    final offset = headers['Upload-Offset'] ?? headers['Range'] ?? '';
    final mark = headers['Upload-Complete'] ?? '';
    log.add('${request.method} $offset $mark'.trim());
    if (heldMethod == request.method) await held?.future;
    final failure = failures.isEmpty ? 200 : failures.removeAt(0);
    if (failure == 0) throw StateError('cut');
    if (failure >= 300) return _text(failure, 'as the test wants');
    final response = _response(request, id);
    if (failure == 1) throw StateError('cut');
    return response;
  }

  BlobResponse _response(BlobRequest request, String id) {
    final method = request.method;
    if (method == 'POST') {
      const id = 'x1Jc0WqB7mT4kZ9sVdR2ug';
      blobs[id] = <int>[];
      types.add(request.headers['Content-Type'] ?? '');
      return _empty(201, <String, String>{'location': 'blobs/$id'});
    }
    final stored = blobs[id];
    if (stored == null) return _text(404, 'There is no such blob');
    if (method == 'DELETE') {
      blobs.remove(id);
      return _empty(204, <String, String>{});
    }
    if (method == 'HEAD') {
      final offset = '${stored.length}';
      return _empty(204, <String, String>{'upload-offset': offset});
    }
    if (method == 'PATCH') return _patched(request, id, stored);
    return _ranged(request.headers['Range'] ?? '', stored);
  }

  BlobResponse _patched(BlobRequest request, String id, List<int> stored) {
    final offset = int.tryParse(request.headers['Upload-Offset'] ?? '') ?? -1;
    if (offset != stored.length) return _text(409, 'Another offset');
    stored.addAll(request.body);
    if (request.headers['Upload-Complete'] == '?0') {
      return _empty(204, <String, String>{});
    }
    final reference = <String, Object?>{
      r'$blob': id,
      'size': stored.length,
      'type': types.last,
      'sha256': 'ab12',
    };
    return _text(200, jsonEncode(reference));
  }

  BlobResponse _ranged(String range, List<int> stored) {
    final bounds = range.replaceAll('bytes=', '').split('-');
    final start = int.tryParse(bounds.first) ?? 0;
    final end = (int.tryParse(bounds.last) ?? 0) + 1;
    final cut = cuts.isEmpty ? end : start + cuts.removeAt(0);
    final body = StreamController<List<int>>();
    download = body;
    // Two bytes in each part.
    for (int at = start; at < end && at < cut; at += 2) {
      body.add(stored.sublist(at, min(at + 2, end)));
    }
    if (cut < end) body.addError(StateError('cut'));
    unawaited(body.close());
    return BlobResponse(206, <String, String>{}, body.stream);
  }

  BlobResponse _empty(int status, Map<String, String> headers) {
    final body = StreamController<List<int>>();
    unawaited(body.close());
    return BlobResponse(status, headers, body.stream);
  }

  BlobResponse _text(int status, String text) {
    final body = StreamController<List<int>>();
    body.add(utf8.encode(text));
    unawaited(body.close());
    return BlobResponse(status, <String, String>{}, body.stream);
  }

  /// The reference to a stored blob.
  Json store(List<int> bytes) {
    const id = 'x1Jc0WqB7mT4kZ9sVdR2ug';
    blobs[id] = bytes;
    return <String, Object?>{
      r'$blob': id,
      'size': bytes.length,
      'type': 'image/png',
      'sha256': 'ab12',
    };
  }
}
