import 'dart:async';
import 'dart:math';
import 'dart:typed_data';

import 'blob_reference.dart';
import 'blob_requests.dart';
import 'cancellation.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';

/// Options of a download.
final class DownloadOptions {
  const DownloadOptions({
    this.start = 0,
    this.end,
    this.onProgress,
    this.cancellation,
  });

  /// The first byte to fetch.
  final int start;

  /// The byte after the last one; null for the end of the data.
  final int? end;

  /// Receives the number of bytes that have arrived, and that of all bytes.
  final void Function(int loaded, int total)? onProgress;

  /// Ends the download.
  final Cancellation? cancellation;
}

/// One download. A request that is cut is followed by one for the rest.
final class BlobDownload {
  BlobDownload(this._requests, this._reference, this._options)
    : _start = min(max(_options.start, 0), _reference.size) {
    final end = _options.end ?? _reference.size;
    _offset = _start;
    _end = min(max(end, _start), _reference.size);
  }

  final BlobRequests _requests;
  final BlobReference _reference;
  final DownloadOptions _options;
  final int _start;
  late final int _end;
  late int _offset;

  /// The body of the response that is being read.
  StreamIterator<List<int>>? _body;
  bool _isStopped = false;
  Completer<void>? _paused;

  late final StreamController<List<int>> _controller =
      StreamController<List<int>>(
        onListen: _run,
        onResume: _resume,
        onCancel: _stop,
      );

  /// Returns the data in parts. It is read no faster than its listener takes
  /// it.
  Stream<List<int>> get stream => _controller.stream;

  /// Returns the whole data.
  Future<Uint8List> bytes() async {
    final bytes = BytesBuilder(copy: false);
    while (true) {
      final part = await _next();
      if (part == null) return bytes.takeBytes();
      bytes.add(part);
    }
  }

  Future<void> _run() async {
    try {
      while (!_isStopped) {
        final part = await _next();
        if (part == null || _isStopped) break;
        _controller.add(part);
        if (_controller.isPaused) await _pause();
      }
    } catch (error) {
      if (!_isStopped) _controller.addError(error);
    }
    unawaited(_controller.close());
  }

  Future<void> _pause() {
    final paused = Completer<void>();
    _paused = paused;
    return paused.future;
  }

  void _resume() {
    final paused = _paused;
    _paused = null;
    paused?.complete();
  }

  void _stop() {
    _isStopped = true;
    _endBody();
    _resume();
  }

  void _endBody() {
    final body = _body;
    _body = null;
    if (body != null) unawaited(body.cancel());
  }

  /// Returns the next bytes; null at the end.
  Future<List<int>?> _next() async {
    if (_offset >= _end) return null;
    final cancellation = _options.cancellation;
    cancellation?.addListener(_endBody);
    try {
      final part = await _requests.retry<List<int>>(
        cancellation,
        () => _offset,
        _part,
      );
      _offset += part.length;
      final report = _options.onProgress;
      if (report != null) report(_offset - _start, _end - _start);
      return part;
    } finally {
      cancellation?.removeListener(_endBody);
    }
  }

  /// Returns the next bytes. After an error, the next call sends another
  /// request.
  Future<List<int>> _part() async {
    try {
      final body = _body ?? await _request();
      _body = body;
      while (await body.moveNext()) {
        final part = body.current;
        if (part.length > _end - _offset) throw _otherData();
        if (part.isNotEmpty) return part;
      }
      throw failure(
        ErrorCode.unavailable,
        'The response is shorter than the blob',
      );
    } catch (error) {
      _endBody();
      rethrow;
    }
  }

  Future<StreamIterator<List<int>>> _request() async {
    final response = await _requests.send(
      'GET',
      _requests.urlOf(_reference),
      headers: <String, String>{
        'Range': 'bytes=$_offset-${_end - 1}',
        'If-Range': '"${_reference.sha256}"',
      },
      cancellation: _options.cancellation,
    );
    final body = StreamIterator<List<int>>(response.body);
    if (response.status == 206) return body;
    await body.cancel();
    throw _otherData();
  }

  BridgeException _otherData() {
    return failure(
      ErrorCode.invalidParams,
      'The server has other data than the reference says',
    );
  }
}
