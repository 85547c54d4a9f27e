import 'dart:async';
import 'dart:convert';

import 'call.dart';
import 'calling.dart';
import 'cancellation.dart';
import 'codes.dart';
import 'errors.dart';
import 'values.dart';

/// Answers a request; throws a [BridgeError] to answer with that.
typedef RequestHandler = FutureOr<Object?> Function(Json params, Request asked);

/// A request of the other side while it runs.
final class Request implements Served {
  Request(this.id, this._isRunning, this._progress);

  /// A String, a number, or null.
  final Object? id;

  final bool Function(Request request) _isRunning;
  final void Function(Object? value) _progress;

  /// Tells that the other side no longer wants the answer.
  final Cancellation cancellation = Cancellation();

  /// Sends a progress value, as long as the request runs.
  void progress(Object? value) {
    if (_isRunning(this)) _progress(value);
  }

  @override
  Object idFor(String method) {
    final own = id;
    // A null would be read as none: the call would be made with this client's
    // own rights.
    if (own != null && _isRunning(this)) return own;
    throw failure(
      ErrorCode.invalidParams,
      '$method can not be called on behalf of who asked: the request has been '
      'answered, or its connection has ended, or it was a notification',
      method: method,
    );
  }
}

/// The requests that the other side made: each runs in its handler, and is
/// answered exactly once.
final class Serving {
  Serving(this._calling, this._report);

  final Calling _calling;
  final void Function(BridgeError error) _report;

  /// By id, whose type counts: 1 and "1" are two.
  final Map<Object?, Request> _running = <Object?, Request>{};

  /// While nobody is connected, the latest progress of each.
  Map<Object?, String>? _waiting;

  /// Runs a request in its handler; null: there is no such method.
  Future<void> serve(
    Object? id,
    String method,
    Json params,
    RequestHandler? handler,
  ) async {
    if (handler == null) return _refuse(id, noMethod(method));
    if (_running.containsKey(id)) {
      return _refuse(
        id,
        failure(ErrorCode.conflict, 'the request $id is still running'),
      );
    }
    final request = Request(
      id,
      _isRunning,
      (Object? value) => _progress(id, value),
    );
    _running[id] = request;
    try {
      final result = await handler(params, request);
      if (_isRunning(request)) _answer(id, method, result);
    } catch (error) {
      if (_isRunning(request)) _refuse(id, error);
    } finally {
      if (_isRunning(request)) _end(id);
    }
  }

  /// The other side no longer wants the answer; it gets one all the same.
  void cancel(Object? id) => _running[id]?.cancellation.cancel();

  /// The connection ended, and another will go on with what runs.
  void pause() {
    _waiting ??= <Object?, String>{};
  }

  /// There is a connection.
  void start() {
    final waiting = _waiting;
    _waiting = null;
    if (waiting == null) return;
    for (final text in waiting.values) {
      _calling.send(text);
    }
  }

  /// Ends everything that runs, and answers none of it.
  void interrupt(BridgeError error) {
    _waiting = null;
    final requests = _running.values.toList();
    _running.clear();
    for (final request in requests) {
      request.cancellation.cancel(error);
    }
  }

  /// False as soon as it was given up: then there is nobody to answer.
  bool _isRunning(Request request) => identical(_running[request.id], request);

  void _end(Object? id) {
    _running.remove(id);
    _waiting?.remove(id);
  }

  void _answer(Object? id, String method, Object? result) {
    String text;
    try {
      text = _response(id, 'result', result);
    } catch (error) {
      final why = 'the result of $method can not be JSON: $error';
      return _refuse(id, failure(ErrorCode.internal, why));
    }
    if (_calling.fits(text)) {
      _calling.send(text);
    } else {
      final why = "the result of $method is larger than the server's limit";
      _refuse(id, failure(ErrorCode.tooLarge, why));
    }
  }

  void _refuse(Object? id, Object reason) {
    final error = reason is BridgeError
        ? reason
        : failure(ErrorCode.internal, messageOf(reason));
    final bare = <String, Object?>{
      'code': error.code,
      'message': error.message,
    };
    String text = _response(id, 'error', bare);
    final data = error.data;
    if (data != null) {
      try {
        final whole = <String, Object?>{...bare, 'data': data};
        final told = _response(id, 'error', whole);
        if (_calling.fits(told)) text = told;
      } catch (_) {
        // Data that has no JSON is left out.
      }
    }
    _calling.send(text);
  }

  void _progress(Object? id, Object? value) {
    String text;
    try {
      text = jsonEncode(<String, Object?>{
        'jsonrpc': '2.0',
        'method': r'$/progress',
        'params': <String, Object?>{'id': id, 'value': value},
      });
    } catch (cause) {
      final why = 'a progress value can not be JSON: $cause';
      return _report(failure(ErrorCode.internal, why, cause: cause));
    }
    if (!_calling.fits(text)) {
      const why = "a progress value is larger than the server's limit";
      return _report(failure(ErrorCode.tooLarge, why));
    }
    final waiting = _waiting;
    if (waiting == null) {
      _calling.send(text);
    } else {
      waiting[id] = text;
    }
  }

  String _response(Object? id, String member, Object? value) {
    return jsonEncode(<String, Object?>{
      'jsonrpc': '2.0',
      'id': id,
      member: value,
    });
  }
}

/// This client has no such method.
BridgeError noMethod(String method) {
  return failure(
    ErrorCode.methodNotFound,
    'this client has no method $method',
  );
}

/// Runs a handler of the application; what it throws is what a caller gets
/// from a host.
Future<Object?> served(
  Cancellation cancellation,
  FutureOr<Object?> Function() body,
) async {
  try {
    return await body();
  } catch (error) {
    throw cancellation.isCancelled ? cancelledError() : hostFailure(error);
  }
}
