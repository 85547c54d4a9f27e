import 'dart:async';

import 'call.dart';
import 'cancellation.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';
import 'message_encoder.dart';
import 'outgoing_requests.dart';
import 'values.dart';

/// Handles a request and returns its result. A thrown [BridgeException] becomes
/// the response.
typedef RequestHandler =
    FutureOr<Object?> Function(Json params, IncomingRequest request);

/// A running request of the peer.
final class IncomingRequest implements RequestReference {
  IncomingRequest(this.id, this._isRunning, this._progress);

  /// A String, a number, or null.
  final Object? id;

  final bool Function(IncomingRequest request) _isRunning;
  final void Function(Object? value) _progress;

  /// Cancelled when the peer cancels the request.
  final Cancellation cancellation = Cancellation();

  /// Sends a progress value, as long as the request runs.
  void progress(Object? value) {
    if (_isRunning(this)) _progress(value);
  }

  @override
  Object idFor(String method) {
    final own = id;
    // The server treats null as absent: it would make the call with this
    // client's own rights.
    if (own != null && _isRunning(this)) return own;
    throw failure(
      ErrorCode.invalidParams,
      '$method cannot be called on behalf of the caller: the request has its '
      'response, its connection has closed, or it was a notification',
      method: method,
    );
  }
}

/// Received requests. Each runs in its handler and gets exactly one response.
final class IncomingRequests {
  IncomingRequests(this._outgoing, this._encoder, this._report);

  final OutgoingRequests _outgoing;
  final MessageEncoder _encoder;
  final void Function(BridgeException error) _report;

  /// Running requests by id. The ids 1 and "1" are different.
  final Map<Object?, IncomingRequest> _running = <Object?, IncomingRequest>{};

  /// The latest progress of each request while there is no connection.
  Map<Object?, String>? _latestProgress;

  /// Runs a request in its handler; null: this client has no such method.
  Future<void> handle(
    Object? id,
    String method,
    Json params,
    RequestHandler? handler,
  ) async {
    if (handler == null) return _respondError(id, methodNotFound(method));
    if (_running.containsKey(id)) {
      return _respondError(
        id,
        failure(ErrorCode.conflict, 'The request $id is still running'),
      );
    }
    final request = IncomingRequest(
      id,
      _isRunning,
      (Object? value) => _progress(id, value),
    );
    _running[id] = request;
    try {
      final result = await handler(params, request);
      if (_isRunning(request)) _respond(id, method, result);
    } catch (error) {
      if (_isRunning(request)) _respondError(id, error);
    } finally {
      if (_isRunning(request)) _end(id);
    }
  }

  /// Cancels a request for the peer. The request still gets a response.
  void cancel(Object? id) => _running[id]?.cancellation.cancel();

  /// Called when the connection has closed and another one will follow.
  void pause() {
    _latestProgress ??= <Object?, String>{};
  }

  /// Called when there is a connection.
  void start() {
    final latest = _latestProgress;
    _latestProgress = null;
    if (latest == null) return;
    for (final text in latest.values) {
      _outgoing.send(text);
    }
  }

  /// Cancels all running requests and sends no responses to them.
  void interrupt(BridgeException error) {
    _latestProgress = null;
    final requests = _running.values.toList();
    _running.clear();
    for (final request in requests) {
      request.cancellation.cancel(error);
    }
  }

  /// False once the request was interrupted; then no response is sent.
  bool _isRunning(IncomingRequest request) =>
      identical(_running[request.id], request);

  void _end(Object? id) {
    _running.remove(id);
    _latestProgress?.remove(id);
  }

  void _respond(Object? id, String method, Object? result) {
    String text;
    try {
      text = _encoder.result(id, result);
    } on FormatException catch (cause) {
      final why = 'The result of $method cannot be sent: ${cause.message}';
      return _respondError(id, failure(ErrorCode.internal, why));
    }
    if (_encoder.fits(text)) {
      _outgoing.send(text);
    } else {
      final why = "The result of $method is larger than the server's limit";
      _respondError(id, failure(ErrorCode.tooLarge, why));
    }
  }

  void _respondError(Object? id, Object reason) {
    final error = reason is BridgeException
        ? reason
        : failure(ErrorCode.internal, messageOf(reason));
    _outgoing.send(_encoder.error(id, error));
  }

  void _progress(Object? id, Object? value) {
    String text;
    try {
      text = _encoder.progress(id, value);
    } on FormatException catch (cause) {
      final why = 'A progress value cannot be sent: ${cause.message}';
      return _report(failure(ErrorCode.internal, why, cause: cause));
    }
    if (!_encoder.fits(text)) {
      const why = "A progress value is larger than the server's limit";
      return _report(failure(ErrorCode.tooLarge, why));
    }
    final latest = _latestProgress;
    if (latest == null) {
      _outgoing.send(text);
    } else {
      latest[id] = text;
    }
  }
}

/// Creates the error for a method that this client does not have.
BridgeException methodNotFound(String method) {
  return failure(
    ErrorCode.methodNotFound,
    'This client has no method "$method"',
  );
}

/// Runs a handler of the application and converts its errors to those of a
/// host.
Future<Object?> runHandler(
  Cancellation cancellation,
  FutureOr<Object?> Function() body,
) async {
  try {
    return await body();
  } catch (error) {
    throw cancellation.isCancelled ? cancelledException() : hostFailure(error);
  }
}
