import 'dart:async';

import 'cancellation.dart';
import 'clock.dart';
import 'codes.dart';
import 'errors.dart';
import 'machine.dart';
import 'states.dart';
import 'values.dart';

/// A request of the other side for whose caller this side may call in turn.
abstract interface class Served {
  /// Its id, while the other side waits for its answer, so that [method] can
  /// be called for it; throws afterwards.
  Object idFor(String method);
}

/// A call as far as it can be told, in the words of the protocol.
final class Asked {
  const Asked(this.id, this.method, this.uri, this.key);

  final String id;
  final String method;
  final String? uri;
  final String? key;

  /// Whether it is about a connection and not a session: it has no number, and
  /// is not asked again on another connection.
  bool get isBare =>
      method == 'session.open' ||
      method == 'session.resume' ||
      method == r'$/ping';

  /// Whether it takes a key, and may take long.
  bool get isKeyed => isKeyedMethod(method);
}

/// Whether a method takes a key, and may take long.
bool isKeyedMethod(String method) =>
    method == 'router.open' ||
    method == 'router.invoke' ||
    method == 'page.call';

/// How a request is made.
final class Asking {
  const Asking({
    this.timeout,
    this.cancellation,
    this.onProgress,
    this.onBehalfOf,
    this.isFirst = false,
    this.taken,
  });

  /// Milliseconds.
  final int? timeout;
  final Cancellation? cancellation;
  final void Function(Object? value)? onProgress;
  final Served? onBehalfOf;

  /// It goes out before calls that wait, and at once or not at all.
  final bool isFirst;

  /// Told the result before anything else that comes is looked at.
  final void Function(Object? result)? taken;
}

/// One call that this side made. It settles exactly once.
final class Call {
  Call(this.asked, this.text, this._asking, this._withdraw, this._clock)
    : isOnce = _asking.isFirst || _asking.onBehalfOf != null {
    // Who does not wait for it is not told.
    _completer.future.ignore();
    _asking.cancellation?.addListener(_cancel);
    final timeout = _asking.timeout;
    if (timeout != null) _guard = _clock.after(timeout + grace, _late);
  }

  /// Milliseconds that the server's own answer to a passed deadline may take
  /// before the client stops waiting for it.
  static const int grace = 1000;

  final Asked asked;

  /// The complete request.
  final String text;

  /// Whether it can not be asked again, whatever its key.
  final bool isOnce;

  final Asking _asking;
  final void Function(Call call) _withdraw;
  final Clock _clock;
  final Machine<CallState, CallEvent> _life = Machine<CallState, CallEvent>(
    callStart,
    callTable,
  );
  final Completer<Object?> _completer = Completer<Object?>();
  ClockTimer? _guard;

  /// The number with which it was sent, where such are.
  int seq = 0;

  /// Where it stands.
  CallState get state => _life.state;

  /// Whether it waits to be sent.
  bool get isWaiting => state == CallState.waiting;

  /// Whether it has its result, or its error.
  bool get isSettled => state == CallState.settled;

  /// Whether it was handed to a connection, and is not answered.
  bool get isSent => !isWaiting && !isSettled;

  /// Whether another session can be asked for it.
  bool get canAskAgain =>
      asked.key != null && !isOnce && _life.can(CallEvent.again);

  /// Its result, or its error.
  Future<Object?> get future => _completer.future;

  /// In bytes, as it is sent.
  int get size => sizeOf(text);

  /// It was handed to a connection.
  void sent(int number) {
    _life.fire(CallEvent.send);
    seq = number;
  }

  /// It has to be sent again, to another session.
  void again() => _life.fire(CallEvent.again);

  /// The server has answered.
  void answer(Object? result) {
    try {
      final taken = _asking.taken;
      if (taken != null) taken(result);
    } on BridgeError catch (error) {
      _fail(CallEvent.fail, error);
      return;
    }
    _settle(CallEvent.answer);
    _completer.complete(result);
  }

  /// The server has answered with an error.
  void refuse(BridgeError error) => _fail(CallEvent.answer, error);

  /// This side gives it up.
  void fail(BridgeError error) => _fail(CallEvent.fail, error);

  /// Something was told about it.
  void progress(Object? value) {
    final opened = objectOf(value)['opened'];
    if (opened != null && asked.method == 'router.open') {
      // The deadline ends when the page is shown; how long the user then
      // stays is not the caller's to bound.
      _guard?.cancel();
      if (_life.can(CallEvent.opened)) _life.fire(CallEvent.opened);
    }
    final listener = _asking.onProgress;
    if (listener != null) listener(value);
  }

  void _cancel() {
    if (isWaiting) {
      _fail(CallEvent.cancel, _asking.cancellation?.reason ?? cancelledError());
    } else if (_life.can(CallEvent.cancel)) {
      _life.fire(CallEvent.cancel);
      _withdraw(this);
    }
  }

  void _late() {
    if (!isWaiting) _withdraw(this);
    final method = asked.method;
    final timeout = _asking.timeout;
    _fail(
      CallEvent.late,
      failure(
        ErrorCode.deadline,
        'no answer to $method within $timeout ms',
        method: method,
      ),
    );
  }

  void _fail(CallEvent event, BridgeError error) {
    if (isSettled) return;
    _settle(event);
    _completer.completeError(error);
  }

  void _settle(CallEvent event) {
    _life.fire(event);
    _guard?.cancel();
    _asking.cancellation?.removeListener(_cancel);
  }
}
