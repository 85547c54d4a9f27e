import 'dart:async';

import 'errors.dart';
import 'failures.dart';

/// Cancels a call. A host receives one that is cancelled when its caller
/// cancels or leaves.
final class Cancellation {
  final List<void Function()> _listeners = <void Function()>[];
  final Completer<void> _completer = Completer<void>();
  BridgeException? _reason;

  /// Whether [cancel] was called.
  bool get isCancelled => _reason != null;

  /// The reason; null if it was not cancelled.
  BridgeException? get reason => _reason;

  /// Completes when it is cancelled; it may never complete.
  Future<void> get whenCancelled => _completer.future;

  /// Cancels once; later calls have no effect.
  void cancel([BridgeException? reason]) {
    if (_reason != null) return;
    _reason = reason ?? cancelledException();
    // A listener can remove others, which are then not called.
    while (_listeners.isNotEmpty) {
      final listener = _listeners.removeAt(0);
      listener();
    }
    _completer.complete();
  }

  /// Runs [listener] at [cancel], before [whenCancelled] completes.
  void addListener(void Function() listener) => _listeners.add(listener);

  /// Removes a listener of [addListener].
  void removeListener(void Function() listener) => _listeners.remove(listener);
}
