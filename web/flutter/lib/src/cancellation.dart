import 'dart:async';

import 'errors.dart';

/// Ends what somebody no longer wants: given to a call it cancels that, and a
/// host is given one that tells that its caller has gone.
final class Cancellation {
  final List<void Function()> _listeners = <void Function()>[];
  final Completer<void> _completer = Completer<void>();
  BridgeError? _reason;

  /// Whether [cancel] was called.
  bool get isCancelled => _reason != null;

  /// Why; null as long as it was not cancelled.
  BridgeError? get reason => _reason;

  /// Ends when it is cancelled, which may be never.
  Future<void> get whenCancelled => _completer.future;

  /// Cancels, once; later calls do nothing.
  void cancel([BridgeError? reason]) {
    if (_reason != null) return;
    _reason = reason ?? cancelledError();
    final listeners = _listeners.toList();
    _listeners.clear();
    for (final listener in listeners) {
      listener();
    }
    _completer.complete();
  }

  /// Runs [listener] at [cancel], before [whenCancelled] ends.
  void addListener(void Function() listener) => _listeners.add(listener);

  /// Takes [addListener] back.
  void removeListener(void Function() listener) => _listeners.remove(listener);
}
