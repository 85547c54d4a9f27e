import 'dart:convert';

import 'blob_reference.dart';
import 'blob_requests.dart';
import 'blob_sources.dart';
import 'cancellation.dart';
import 'values.dart';

/// Options of an upload.
final class UploadOptions {
  const UploadOptions({
    this.type = 'application/octet-stream',
    this.name,
    this.onProgress,
    this.cancellation,
    this.partSize = 1024 * 1024,
  });

  /// The media type.
  final String type;

  /// The name of the file, for the reference.
  final String? name;

  /// Receives the number of bytes that the server has, and the number of all
  /// bytes if it is known.
  final void Function(int loaded, int? total)? onProgress;

  /// Ends the upload, and removes what was sent.
  final Cancellation? cancellation;

  /// The number of bytes of one request.
  final int partSize;
}

/// One upload, in requests with a part each, so that it continues after the
/// last part that the server has.
final class BlobUpload {
  BlobUpload(this._requests, this._source, this._options);

  final BlobRequests _requests;
  final BlobSource _source;
  final UploadOptions _options;

  /// The number of bytes that the server has.
  int _offset = 0;

  /// Whether the server has to be asked for its offset, after a failed request.
  bool _isUncertain = false;

  /// The upload on the server.
  Uri? _url;

  Future<BlobReference> run() async {
    final cancellation = _options.cancellation;
    try {
      final url = await _requests.retry<Uri>(cancellation, () => 0, _create);
      _url = url;
      final reference = await _requests.retry<Json>(
        cancellation,
        () => _offset,
        () => _sendAll(url),
      );
      final name = _options.name;
      return BlobReference.of(<String, Object?>{
        ...reference,
        if (name != null) 'name': name,
      });
    } catch (error) {
      _source.cancel();
      final url = _url;
      if (url != null) _requests.send('DELETE', url).ignore();
      rethrow;
    }
  }

  /// Starts the upload without a part, so that its URL is known before a
  /// request can be cut.
  Future<Uri> _create() async {
    final size = _source.size;
    final response = await _requests.send(
      'POST',
      _requests.url,
      headers: <String, String>{
        'Content-Type': _options.type,
        'Upload-Complete': '?0',
        if (size != null) 'Upload-Length': '$size',
      },
      cancellation: _options.cancellation,
    );
    await _requests.textOf(response);
    return _requests.url.resolve(response.headers['location'] ?? '');
  }

  /// Sends all parts that the server does not have. Returns the reference that
  /// is the response to the last one.
  Future<Json> _sendAll(Uri url) async {
    if (_isUncertain) await _askOffset(url);
    while (true) {
      final part = await _source.next(_offset, _options.partSize);
      final size = _source.size;
      final end = _offset + part.length;
      final isLast = size == null
          ? part.length < _options.partSize
          : part.isEmpty || end >= size;
      _isUncertain = true;
      final response = await _requests.send(
        'PATCH',
        url,
        headers: <String, String>{
          'Content-Type': 'application/partial-upload',
          'Upload-Offset': '$_offset',
          'Upload-Complete': isLast ? '?1' : '?0',
        },
        body: part,
        cancellation: _options.cancellation,
      );
      final text = await _requests.textOf(response);
      _isUncertain = false;
      _offset = end;
      final report = _options.onProgress;
      if (report != null) report(_offset, isLast ? _offset : size);
      if (isLast) return objectOf(jsonDecode(text));
    }
  }

  Future<void> _askOffset(Uri url) async {
    final response = await _requests.send(
      'HEAD',
      url,
      cancellation: _options.cancellation,
    );
    await _requests.textOf(response);
    _offset = int.tryParse(response.headers['upload-offset'] ?? '') ?? 0;
    _isUncertain = false;
  }
}
