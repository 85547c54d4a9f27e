import 'dart:convert';

import 'backoff.dart';
import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'connection.dart';
import 'errors.dart';
import 'values.dart';

/// The requests that this side makes. They wait until [start], and again after
/// [pause].
final class Calling {
  Calling(this._client, this._queueCount, this._queueBytes) {
    checkRange('queueCount', _queueCount, 0, longestTimer);
    checkRange('queueBytes', _queueBytes, 0, longestTimer);
  }

  final Client _client;
  final int _queueCount;
  final int _queueBytes;

  /// The ids of two loads of one app never meet.
  final String _idPrefix = randomID();
  int _lastID = 0;
  bool _isStarted = false;

  /// Whether calls wait though it has started, for room.
  bool _isFull = false;
  Close? _closed;
  int? _maxMessage;

  /// Sent and unsent, in the order they were made.
  final Map<String, Call> _calls = <String, Call>{};

  /// Those that are not answered, in the order they were made.
  List<Call> get open =>
      _calls.values.where((Call call) => !call.isSettled).toList();

  /// Those that were sent and are about the session.
  List<Call> get sent => open
      .where((Call call) => call.isSent && !call.asked.isBare)
      .toList();

  /// Hands a text on: gives its number, 0 where it has none, or null when it
  /// can not go out now. What is [isBare] has no number; what [canWait] comes
  /// again when there is room.
  int? send(String text, {bool isBare = false, bool canWait = false}) {
    final resumption = _client.resumption;
    if (resumption != null) {
      return resumption.send(text, isBare: isBare, canWait: canWait);
    }
    return _client.link.send(text) ? 0 : null;
  }

  /// Makes a request, with [params] as an object or none.
  Future<Object?> request(
    String method, [
    Json? params,
    Asking asking = const Asking(),
  ]) async {
    final closed = _closed;
    if (closed != null) throw closedError(closed, false, method);
    final cancellation = asking.cancellation;
    if (cancellation != null && cancellation.isCancelled) {
      throw cancellation.reason ?? cancelledError();
    }
    final timeout = asking.timeout;
    if (timeout != null) {
      checkRange('timeout', timeout, 1, longestTimer - Call.grace);
    }
    final call = _make(method, params, asking);
    _calls[call.asked.id] = call;
    if (call.isOnce || (_isStarted && !_isFull)) _transmit(call);
    if (call.isWaiting && call.isOnce) {
      call.fail(closedError(const Close(1006, ''), false, method));
    } else if (call.isWaiting) {
      _checkQueue(call);
    }
    try {
      return await call.future;
    } finally {
      _calls.remove(call.asked.id);
    }
  }

  /// Asks whether the other side is there, at once or not at all.
  Future<void> ping() async {
    await request(r'$/ping', null, const Asking(isFirst: true));
  }

  /// Lets the waiting calls go, in the order they were made. [maxMessage] is
  /// the largest message, in bytes, that the other side takes, if it said so.
  void start(int? maxMessage, int overhead) {
    if (maxMessage != null) _maxMessage = maxMessage - overhead;
    _isStarted = true;
    flush();
  }

  /// There is room for calls that wait.
  void flush() {
    if (!_isStarted) return;
    _isFull = false;
    for (final call in _waiting) {
      if (!_isFull) _transmit(call);
    }
  }

  /// Whether the other side takes a message of that size.
  bool fits(String text) {
    final most = _maxMessage;
    // A UTF-16 unit is at most three bytes of UTF-8: only what may be too
    // large is counted.
    return most == null || text.length * 3 <= most || sizeOf(text) <= most;
  }

  /// The connection ended: calls wait again.
  void pause() {
    _isStarted = false;
  }

  /// The connection ended, and the session with it: what was sent fails, the
  /// rest waits. Gives those of the former that take a key.
  List<Asked> interrupt(Close close) {
    pause();
    final lost = _fail(close, false);
    return lost.where((Asked asked) => asked.isKeyed).toList();
  }

  /// Fails every call, those still to come too.
  void close(Close close) {
    _closed ??= close;
    _fail(close, true);
  }

  /// Tells the other side something; what can not go out now is dropped.
  void notify(String method, Json params) {
    send(
      jsonEncode(<String, Object?>{
        'jsonrpc': '2.0',
        'method': method,
        'params': params,
      }),
    );
  }

  /// The call with that id while it is sent and not answered.
  Call? running(Object? id) {
    final call = id is String ? _calls[id] : null;
    return (call != null && call.isSent) ? call : null;
  }

  /// The call with that id, answered or not, as long as it is known.
  Call? known(Object? id) => id is String ? _calls[id] : null;

  /// A response has come.
  void answered(Json response) {
    final call = running(response['id']);
    if (call == null) return;
    if (!response.containsKey('error')) {
      call.answer(response['result']);
      return;
    }
    final error = objectOf(response['error']);
    final code = intOf(error['code']);
    final method = call.asked.method;
    if (code == null) {
      call.refuse(
        failure(
          ErrorCode.internal,
          "the server's error has no code",
          method: method,
        ),
      );
      return;
    }
    final message = textOf(error['message']) ?? '';
    call.refuse(
      bridgeError(code, message, data: error['data'], method: method),
    );
  }

  List<Call> get _waiting =>
      _calls.values.where((Call call) => call.isWaiting).toList();

  Call _make(String method, Json? params, Asking asking) {
    _lastID += 1;
    final id = '$_idPrefix-$_lastID';
    final isKeyed = isKeyedMethod(method);
    final uri = (isKeyed && params != null) ? textOf(params['uri']) : null;
    final key = (isKeyed && params != null) ? textOf(params['key']) : null;
    final served = asking.onBehalfOf;
    final members = <String, Object?>{
      if (params != null) ...params,
      if (served != null) 'onBehalfOf': served.idFor(method),
    };
    final message = <String, Object?>{
      'jsonrpc': '2.0',
      'id': id,
      'method': method,
      if (params != null || served != null) 'params': members,
    };
    final asked = Asked(id, method, uri, key);
    final text = _encode(message, method);
    return Call(asked, text, asking, _withdraw, _client.clock);
  }

  String _encode(Json message, String method) {
    try {
      return jsonEncode(message);
    } catch (cause) {
      throw failure(
        ErrorCode.invalidParams,
        'the parameters of $method can not be JSON: $cause',
        method: method,
        cause: cause,
      );
    }
  }

  List<Asked> _fail(Close close, bool all) {
    final failed = <Asked>[];
    for (final call in open) {
      if (!all && !call.isSent) continue;
      call.fail(closedError(close, call.isSent, call.asked.method));
      failed.add(call.asked);
    }
    return failed;
  }

  void _checkQueue(Call call) {
    final waiting = _waiting;
    final isMany = waiting.length > _queueCount;
    int size = 0;
    for (final each in waiting) {
      size += each.size;
    }
    if (!isMany && size <= _queueBytes) return;
    final what = isMany ? '$_queueCount calls' : '$_queueBytes bytes';
    call.fail(
      failure(
        ErrorCode.tooMany,
        '$what wait for the connection already',
        method: call.asked.method,
      ),
    );
  }

  void _transmit(Call call) {
    if (!fits(call.text)) {
      call.fail(
        failure(
          ErrorCode.tooLarge,
          'the call has ${call.size} bytes, more than the server takes '
          '(limits.maxMessage)',
          method: call.asked.method,
        ),
      );
      return;
    }
    final number = send(
      call.text,
      isBare: call.asked.isBare,
      canWait: !call.isOnce,
    );
    if (number != null) {
      call.sent(number);
    } else if (_isStarted) {
      _isFull = true;
    }
  }

  /// The caller no longer wants the call.
  void _withdraw(Call call) {
    notify(r'$/cancelRequest', <String, Object?>{'id': call.asked.id});
  }
}


/// What a call ends with when there is no connection for it.
BridgeError closedError(Close close, bool isSent, [String? method]) {
  final code = isSent ? ErrorCode.outcomeUnknown : ErrorCode.unavailable;
  final number = close.code;
  final how = close.reason == '' ? '$number' : '$number: ${close.reason}';
  final doubt = isSent ? '; the outcome of the call is unknown' : '';
  return ConnectionClosed(
    code,
    'the connection is closed ($how)$doubt',
    data: <String, Object?>{
      'kind': 'closed',
      'retryable': !isSent,
      'code': number,
      'reason': close.reason,
    },
    method: method,
    cause: close.cause,
  );
}
