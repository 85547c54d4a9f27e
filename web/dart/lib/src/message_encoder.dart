import 'dart:convert';
import 'dart:math';

import 'encodable.dart';
import 'errors.dart';
import 'values.dart';

/// Encodes the messages of this client, within the limits of the server. A
/// value that the server could not read throws a [FormatException], before the
/// message gets a number.
final class MessageEncoder {
  /// The length of an error's message that fits into every message.
  static const int maxErrorUnits = 1000;

  int? _maxSize;
  int _maxDepth = defaultMaxDepth;

  /// Called with the limits of an open session. [overhead]: the number of bytes
  /// that a message must leave free for its number.
  void setLimits(Json limits, int overhead) {
    final size = intOf(limits['maxMessage']);
    if (size != null) _maxSize = size - overhead;
    _maxDepth = min(intOf(limits['maxDepth']) ?? _maxDepth, defaultMaxDepth);
  }

  /// Whether the server accepts a message of that size.
  bool fits(String text) {
    final most = _maxSize;
    // A UTF-16 unit is at most three bytes of UTF-8, so only a text that may be
    // too large is measured exactly.
    return most == null || text.length * 3 <= most || sizeOf(text) <= most;
  }

  /// Returns the text of a request, or of a notification without an id.
  String request(String method, Json? params, [String? id]) {
    final message = <String, Object?>{
      'jsonrpc': '2.0',
      if (id != null) 'id': id,
      'method': method,
      if (params != null) 'params': params,
    };
    return jsonEncode(encodable(message, <Object>[], _maxDepth));
  }

  /// Returns the text of a response with a result.
  String result(Object? id, Object? value) {
    final result = encodable(value, <Object>['result'], _maxDepth - 1);
    return _response(id, 'result', result);
  }

  /// Returns the text of a response with an error. It replaces halves of
  /// surrogate pairs in the error's message, and omits data that cannot be
  /// sent.
  String error(Object? id, BridgeException error) {
    final bare = <String, Object?>{
      'code': error.code,
      'message': repaired(error.message),
    };
    final text = _response(id, 'error', bare);
    if (!fits(text)) {
      bare['message'] = shortened(repaired(error.message), maxErrorUnits);
      return _response(id, 'error', bare);
    }
    final data = error.data;
    if (data == null) return text;
    try {
      bare['data'] = encodable(data, <Object>['data'], _maxDepth - 2);
    } on FormatException {
      return text;
    }
    final whole = _response(id, 'error', bare);
    return fits(whole) ? whole : text;
  }

  /// Returns the text of a progress value.
  String progress(Object? id, Object? value) {
    return jsonEncode(<String, Object?>{
      'jsonrpc': '2.0',
      'method': r'$/progress',
      'params': <String, Object?>{
        'id': id,
        'value': encodable(value, <Object>['value'], _maxDepth - 2),
      },
    });
  }

  String _response(Object? id, String member, Object? value) {
    return jsonEncode(<String, Object?>{
      'jsonrpc': '2.0',
      'id': id,
      member: value,
    });
  }
}
