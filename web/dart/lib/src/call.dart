import 'dart:async';

import 'cancellation.dart';
import 'clock.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';
import 'models.dart';
import 'state_machine.dart';
import 'states.dart';
import 'values.dart';

/// A reference to a request, to make calls on behalf of its caller.
abstract interface class RequestReference {
  /// Returns its id for a call of [method] on behalf of its caller. Throws once
  /// the request has a response.
  Object idFor(String method);
}

/// Describes a call, in the terms of the protocol.
final class CallInfo {
  const CallInfo(this.id, this.method, this.uri, this.key);

  final String id;
  final String method;
  final String? uri;
  final String? key;

  /// Whether it is about a connection, not a session. It then has no number and
  /// is not sent again on another connection.
  bool get isBare =>
      method == 'session.open' ||
      method == 'session.resume' ||
      method == r'$/ping';

  /// Whether its method accepts a key.
  bool get isKeyed => isKeyedMethod(method);
}

/// Whether a method accepts a key.
bool isKeyedMethod(String method) =>
    method == 'router.open' ||
    method == 'router.invoke' ||
    method == 'router.deliver' ||
    method == 'page.call' ||
    method == 'session.push';

/// The options of a request.
final class RequestOptions {
  const RequestOptions({
    this.timeout,
    this.cancellation,
    this.onProgress,
    this.onBehalfOf,
    this.isFirst = false,
    this.onResult,
    this.onError,
  });

  /// In milliseconds.
  final int? timeout;
  final Cancellation? cancellation;
  final void Function(Object? value)? onProgress;
  final RequestReference? onBehalfOf;

  /// Whether it is sent before waiting calls, at once or not at all.
  final bool isFirst;

  /// Called with the result before the next message is processed.
  final void Function(Object? result)? onResult;

  /// Called with the server's error before the next message is processed.
  final void Function(BridgeException error)? onError;
}

/// A call of this client. It settles exactly once.
final class Call {
  Call(this.info, this.text, this._options, this._sendCancel, this._clock)
    : isOnce = _options.isFirst || _options.onBehalfOf != null {
    // A caller that does not await it does not get its error.
    _completer.future.ignore();
    _options.cancellation?.addListener(_cancel);
    final timeout = _options.timeout;
    if (timeout != null) {
      _timer = _clock.after(timeout + responseGrace, _timedOut);
    }
  }

  /// Milliseconds that the client waits for the server's own response after a
  /// deadline has passed, or after a cancellation without a connection.
  static const int responseGrace = 1000;

  final CallInfo info;

  /// The complete request.
  final String text;

  /// Whether it cannot be sent again, even if it has a key.
  final bool isOnce;

  final RequestOptions _options;
  final void Function(Call call) _sendCancel;
  final Clock _clock;
  final StateMachine<CallState, CallEvent> _machine =
      StateMachine<CallState, CallEvent>(callStart, callTable);
  final Completer<Object?> _completer = Completer<Object?>();
  ClockTimer? _timer;

  /// Settles a cancelled call while there is no connection.
  ClockTimer? _cancelTimer;

  /// Whether the page that it opens was shown.
  bool _isShown = false;

  /// Its sequence number, if messages are numbered.
  int seq = 0;

  /// The state of the call.
  CallState get state => _machine.state;

  /// Whether it is waiting to be sent.
  bool get isWaiting => state == CallState.waiting;

  /// Whether it has its result or error.
  bool get isSettled => state == CallState.settled;

  /// Whether it was passed to a connection and has no response.
  bool get isSent => !isWaiting && !isSettled;

  /// Whether it can be sent again in another session.
  bool get canRequeue =>
      info.key != null && !isOnce && _machine.canApply(CallEvent.again);

  /// Its result or error.
  Future<Object?> get future => _completer.future;

  /// The size of the request in bytes.
  int get size => sizeOf(text);

  /// Called when it was passed to a connection.
  void markSent(int number) {
    _machine.apply(CallEvent.send);
    seq = number;
  }

  /// Puts it back into the queue, to be sent in another session.
  void requeue() => _machine.apply(CallEvent.again);

  /// Called when the server has responded with a result.
  void succeed(Object? result) {
    try {
      final onResult = _options.onResult;
      if (onResult != null) onResult(result);
    } on BridgeException catch (error) {
      _fail(CallEvent.fail, error);
      return;
    }
    _settle(CallEvent.answer);
    _completer.complete(result);
  }

  /// Called when the server has responded with an error.
  void reject(BridgeException error) {
    final onError = _options.onError;
    if (onError != null) onError(error);
    _fail(CallEvent.answer, error);
  }

  /// Ends the call with an error of this client.
  void fail(BridgeException error) => _fail(CallEvent.fail, error);

  /// Called when the server has sent a progress value.
  void progress(Object? value) {
    final opened = objectOf(value)['opened'];
    if (opened != null && info.method == 'router.open') {
      // The timeout applies until the page is shown. How long the user then
      // stays on it is not limited.
      _timer?.cancel();
      _isShown = true;
      if (_machine.canApply(CallEvent.opened)) _machine.apply(CallEvent.opened);
    }
    final listener = _options.onProgress;
    if (listener != null) listener(value);
  }

  /// Called when the connection was lost, or the call was cancelled without
  /// one. A cancelled call waits for another connection only for a short time.
  void connectionLost() {
    if (state != CallState.cancelling) return;
    _cancelTimer ??= _clock.after(responseGrace, _settleCancelled);
  }

  /// Called when there is a connection again.
  void connectionRestored() {
    _cancelTimer?.cancel();
    _cancelTimer = null;
  }

  BridgeException get _reason =>
      _options.cancellation?.reason ?? cancelledException();

  void _cancel() {
    if (isWaiting) {
      _fail(CallEvent.cancel, _reason);
    } else if (_machine.canApply(CallEvent.cancel)) {
      _machine.apply(CallEvent.cancel);
      _sendCancel(this);
    }
  }

  /// Settles a cancelled call as the server will, once it is connected.
  void _settleCancelled() {
    if (!_isShown) return _fail(CallEvent.late, _reason);
    _settle(CallEvent.late);
    _completer.complete(const Outcome('cancelled', 0, '', null).toJson());
  }

  void _timedOut() {
    if (!isWaiting) _sendCancel(this);
    final method = info.method;
    final timeout = _options.timeout;
    _fail(
      CallEvent.late,
      failure(
        ErrorCode.deadline,
        'No response to $method within $timeout ms',
        method: method,
      ),
    );
  }

  void _fail(CallEvent event, BridgeException error) {
    if (isSettled) return;
    _settle(event);
    _completer.completeError(error);
  }

  void _settle(CallEvent event) {
    _machine.apply(event);
    _timer?.cancel();
    _cancelTimer?.cancel();
    _options.cancellation?.removeListener(_cancel);
  }
}
