import 'backoff.dart';
import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'connection.dart';
import 'errors.dart';
import 'failures.dart';
import 'values.dart';

/// Requests of this client. They wait until [start] and again after [pause].
final class OutgoingRequests {
  OutgoingRequests(this._client, this._queueCount, this._queueBytes) {
    checkRange('queueCount', _queueCount, 0, maxTimeout);
    checkRange('queueBytes', _queueBytes, 0, maxTimeout);
  }

  final Client _client;
  final int _queueCount;
  final int _queueBytes;

  /// Keeps the ids of two loads of one app different.
  final String _idPrefix = randomID();
  int _lastID = 0;
  bool _isStarted = false;

  /// Whether calls wait for room in the outbox although the session is open.
  bool _isFull = false;
  Close? _closed;

  /// Sent and unsent calls, in the order in which they were made.
  final Map<String, Call> _calls = <String, Call>{};

  /// The calls without a response, in the order in which they were made.
  List<Call> get unsettled =>
      _calls.values.where((Call call) => !call.isSettled).toList();

  /// The sent calls about the session that have no response.
  List<Call> get unanswered => unsettled
      .where((Call call) => call.isSent && !call.info.isBare)
      .toList();

  /// Sends a message. Returns its number, 0 if it has none, or null if it
  /// cannot be sent now. [isBare]: the message has no number; [canWait]: it is
  /// sent later if there is no room.
  int? send(String text, {bool isBare = false, bool canWait = false}) {
    final resumption = _client.resumption;
    if (resumption != null) {
      return resumption.send(text, isBare: isBare, canWait: canWait);
    }
    return _client.connection.send(text) ? 0 : null;
  }

  /// Makes a request; [params] is an object or null.
  Future<Object?> request(
    String method, [
    Json? params,
    RequestOptions options = const RequestOptions(),
  ]) async {
    final closed = _closed;
    if (closed != null) throw closedException(closed, false, method);
    final cancellation = options.cancellation;
    if (cancellation != null && cancellation.isCancelled) {
      throw cancellation.reason ?? cancelledException();
    }
    final timeout = options.timeout;
    if (timeout != null) {
      checkRange('timeout', timeout, 1, maxTimeout - Call.responseGrace);
    }
    final call = _make(method, params, options);
    _calls[call.info.id] = call;
    if (call.isOnce || (_isStarted && !_isFull)) _transmit(call);
    if (call.isWaiting && call.isOnce) {
      call.fail(closedException(const Close(1006, ''), false, method));
    } else if (call.isWaiting) {
      _checkQueue(call);
    }
    try {
      return await call.future;
    } finally {
      _calls.remove(call.info.id);
    }
  }

  /// Sends a ping, at once or not at all.
  Future<void> ping() async {
    await request(r'$/ping', null, const RequestOptions(isFirst: true));
  }

  /// Called when the session is open: sends the waiting calls, in the order in
  /// which they were made.
  void start() {
    _isStarted = true;
    for (final call in unsettled) {
      call.connectionRestored();
    }
    flush();
  }

  /// Sends the waiting calls as far as there is room.
  void flush() {
    if (!_isStarted) return;
    _isFull = false;
    for (final call in _waiting) {
      if (!_isFull) _transmit(call);
    }
  }

  /// Called when the connection has closed: calls wait again.
  void pause() {
    _isStarted = false;
    for (final call in unsettled) {
      call.connectionLost();
    }
  }

  /// Called when the connection and its session have ended: sent calls fail,
  /// others wait. Returns the failed calls of methods that accept a key.
  List<CallInfo> interrupt(Close close) {
    pause();
    final lost = _fail(close, false);
    return lost.where((CallInfo info) => info.isKeyed).toList();
  }

  /// Fails every call, including future ones.
  void close(Close close) {
    _closed ??= close;
    _fail(close, true);
  }

  /// Sends a notification. It is dropped if it cannot be sent now.
  void notify(String method, Json params) {
    send(_client.encoder.request(method, params));
  }

  /// Returns the call with this id, if it was sent and has no response.
  Call? pending(Object? id) {
    final call = id is String ? _calls[id] : null;
    return (call != null && call.isSent) ? call : null;
  }

  /// Returns the call with this number that has no response.
  Call? numbered(int seq) {
    for (final call in unanswered) {
      if (call.seq == seq) return call;
    }
    return null;
  }

  /// Returns the call with this id, with or without a response.
  Call? find(Object? id) => id is String ? _calls[id] : null;

  /// Receives a response.
  void settle(Json response) {
    final id = response['id'];
    final call = pending(id);
    if (!response.containsKey('error')) {
      call?.succeed(response['result']);
      return;
    }
    final error = _decode(objectOf(response['error']), call?.info.method);
    if (error.code == ErrorCode.parseError) {
      _receiveUnreadable(call, error);
    } else if (call != null) {
      call.reject(error);
    } else if (id == null) {
      _client.report(error);
    }
  }

  /// Receives the error of the server about a message that it could not read.
  /// [call]: the call of the message, if the server has found out its id.
  void _receiveUnreadable(Call? call, BridgeException error) {
    final seq = intOf(objectOf(error.data)['seq']);
    final found = call ?? (seq == null ? null : numbered(seq));
    found?.reject(error);
    if (seq == null && (found == null || !found.info.isBare)) {
      if (_client.resumption?.receiveUnreadable(error) ?? false) return;
    }
    if (found == null) _client.report(error);
  }

  BridgeException _decode(Json error, String? method) {
    final code = intOf(error['code']);
    if (code == null) {
      const why = "The server's error has no code";
      return failure(ErrorCode.internal, why, method: method);
    }
    final message = stringOf(error['message']) ?? '';
    return bridgeException(code, message, data: error['data'], method: method);
  }

  List<Call> get _waiting =>
      _calls.values.where((Call call) => call.isWaiting).toList();

  Call _make(String method, Json? params, RequestOptions options) {
    _lastID += 1;
    final id = '$_idPrefix-$_lastID';
    final isKeyed = isKeyedMethod(method);
    final uri = (isKeyed && params != null) ? stringOf(params['uri']) : null;
    final key = (isKeyed && params != null) ? stringOf(params['key']) : null;
    final reference = options.onBehalfOf;
    final members = <String, Object?>{
      if (params != null) ...params,
      if (reference != null) 'onBehalfOf': reference.idFor(method),
    };
    final hasParams = params != null || reference != null;
    final info = CallInfo(id, method, uri, key);
    String text;
    try {
      text = _client.encoder.request(method, hasParams ? members : null, id);
    } on FormatException catch (cause) {
      const code = ErrorCode.invalidParams;
      throw failure(code, cause.message, method: method, cause: cause);
    }
    return Call(info, text, options, _sendCancel, _client.clock);
  }

  List<CallInfo> _fail(Close close, bool all) {
    final failed = <CallInfo>[];
    for (final call in unsettled) {
      if (!all && !call.isSent) continue;
      call.fail(closedException(close, call.isSent, call.info.method));
      failed.add(call.info);
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
        '$what already wait for the connection',
        method: call.info.method,
      ),
    );
  }

  void _transmit(Call call) {
    if (!_client.encoder.fits(call.text)) {
      call.fail(
        failure(
          ErrorCode.tooLarge,
          'The call has ${call.size} bytes, more than the server accepts '
          '(limits.maxMessage)',
          method: call.info.method,
        ),
      );
      return;
    }
    final number = send(
      call.text,
      isBare: call.info.isBare,
      canWait: !call.isOnce,
    );
    if (number != null) {
      call.markSent(number);
    } else if (_isStarted) {
      _isFull = true;
    }
  }

  /// Cancels a call on the server.
  void _sendCancel(Call call) {
    notify(r'$/cancelRequest', <String, Object?>{'id': call.info.id});
    if (!_isStarted) call.connectionLost();
  }
}


/// Creates the error of a call that has no connection.
BridgeException closedException(Close close, bool isSent, [String? method]) {
  final code = isSent ? ErrorCode.outcomeUnknown : ErrorCode.unavailable;
  final number = close.code;
  final how = close.reason == '' ? '$number' : '$number: ${close.reason}';
  final doubt = isSent ? '; the outcome of the call is unknown' : '';
  return ConnectionClosedException(
    code,
    'The connection is closed ($how)$doubt',
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
