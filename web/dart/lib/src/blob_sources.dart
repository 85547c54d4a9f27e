import 'dart:async';
import 'dart:math';
import 'dart:typed_data';

import 'codes.dart';
import 'failures.dart';

/// Data to send.
abstract interface class BlobSource {
  /// The number of bytes; null if it is not known before the end.
  int? get size;

  /// Returns the bytes from an offset, at most that many. Fewer are the last
  /// ones. The offset is never before that of the last call.
  Future<List<int>> next(int offset, int count);

  /// Ends the reading.
  void cancel();
}

/// Bytes in memory.
final class BytesSource implements BlobSource {
  BytesSource(this._bytes);

  final List<int> _bytes;

  @override
  int? get size => _bytes.length;

  @override
  Future<List<int>> next(int offset, int count) async {
    return _bytes.sublist(offset, min(offset + count, _bytes.length));
  }

  @override
  void cancel() {}
}

/// Data that arrives in parts. It holds one part, until the server has received
/// it, and reads no faster.
final class StreamSource implements BlobSource {
  StreamSource(Stream<List<int>> stream, this.size)
    : _parts = StreamIterator<List<int>>(stream);

  @override
  final int? size;
  final StreamIterator<List<int>> _parts;

  /// The bytes from [_start].
  List<int> _held = <int>[];
  int _start = 0;
  bool _isOver = false;
  Object? _error;

  @override
  Future<List<int>> next(int offset, int count) async {
    if (offset < _start) {
      throw failure(
        ErrorCode.outcomeUnknown,
        'The server has lost a part of the stream',
      );
    }
    final bytes = BytesBuilder(copy: false);
    bytes.add(_held.sublist(offset - _start));
    while (!_isOver && bytes.length < count) {
      if (await _hasNext()) bytes.add(_parts.current);
    }
    _held = bytes.takeBytes();
    _start = offset;
    return _held.length <= count ? _held : _held.sublist(0, count);
  }

  /// Reads the next part. After an error there is none, so that the data does
  /// not end there.
  Future<bool> _hasNext() async {
    try {
      if (_error == null) {
        if (await _parts.moveNext()) return true;
        _isOver = true;
        return false;
      }
    } catch (error) {
      _error = error;
    }
    final error = _error;
    final text = error == null ? '' : messageOf(error);
    throw failure(
      ErrorCode.internal,
      'The data cannot be read: $text',
      cause: error,
    );
  }

  @override
  void cancel() => unawaited(_parts.cancel());
}
