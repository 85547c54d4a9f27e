import 'dart:async';
import 'dart:convert';

import 'clock.dart';
import 'codes.dart';
import 'encodable.dart';
import 'errors.dart';
import 'failures.dart';
import 'host_key.dart';
import 'values.dart';

/// The running or finished work of an idempotency key.
final class _KeyedWork {
  const _KeyedWork(this.key, this.result, {this.size = 0, this.expiresAt = 0});

  final HostKey key;
  final Future<Object?> result;

  /// The size of the key and the result in bytes, once the work has finished.
  final int size;

  /// When the result expires, once the work has finished.
  final int expiresAt;
}

/// The results of work by idempotency key. The work of a key runs once; later
/// requests with the key get the same result, or the same error.
final class IdempotencyResults {
  IdempotencyResults(this._clock);

  /// How many results are stored, their bytes, and how long in milliseconds.
  /// Beyond that, the oldest ones are removed.
  static const int maxCount = 256;
  static const int maxBytes = 1 << 20;
  static const int lifetime = 600000;

  final Clock _clock;
  final Map<String, _KeyedWork> _running = <String, _KeyedWork>{};

  /// In the order in which they finished.
  final Map<String, _KeyedWork> _finished = <String, _KeyedWork>{};
  int _bytes = 0;

  /// Runs the work of a key, unless it runs or has a result.
  Future<Object?> run(HostKey key, FutureOr<Object?> Function() work) {
    final now = _clock.now();
    _removeOldest((_KeyedWork oldest) => oldest.expiresAt <= now);
    final known = _running[key.owned] ?? _finished[key.owned];
    if (known != null && known.key.isSameCall(key)) return known.result;
    final completer = Completer<Object?>();
    final started = _KeyedWork(key, completer.future);
    // A request that was cancelled meanwhile does not await it.
    started.result.ignore();
    _running[key.owned] = started;
    unawaited(_execute(started, work, completer));
    return started.result;
  }

  Future<void> _execute(
    _KeyedWork started,
    FutureOr<Object?> Function() work,
    Completer<Object?> completer,
  ) async {
    int size;
    Object? error;
    try {
      final result = _copyOf(await work());
      size = _sizeOf(result);
      if (size > maxBytes) throw _tooLarge(size);
      completer.complete(result);
    } catch (thrown) {
      size = _sizeOfError(thrown);
      error = size > maxBytes ? _tooLarge(size) : thrown;
      if (size > maxBytes) size = _sizeOfError(error);
      completer.completeError(error);
    }
    // Another call with the key may run in its place.
    if (!identical(_running[started.key.owned], started)) return;
    _running.remove(started.key.owned);
    // A host that declines has had no effect, and can be asked again.
    if (error is! DeclinedException) _store(started, size);
  }

  void _store(_KeyedWork work, int size) {
    final whole = work.key.size + size;
    final isLarge = whole > maxBytes;
    final key = isLarge ? work.key.withoutContent : work.key;
    final entry = _KeyedWork(
      key,
      work.result,
      size: key.size + size,
      expiresAt: _clock.now() + lifetime,
    );
    _remove(key.owned);
    _finished[key.owned] = entry;
    _bytes += entry.size;
    _removeOldest(
      (_KeyedWork oldest) => _finished.length > maxCount || _bytes > maxBytes,
    );
  }

  /// Removes the oldest results as long as the condition is true for them.
  void _removeOldest(bool Function(_KeyedWork oldest) isOver) {
    for (final owned in _finished.keys.toList()) {
      final oldest = _finished[owned];
      if (oldest == null || !isOver(oldest)) return;
      _remove(owned);
    }
  }

  void _remove(String owned) {
    final removed = _finished.remove(owned);
    if (removed != null) _bytes -= removed.size;
  }

  /// The result as it is sent, which later changes do not affect.
  Object? _copyOf(Object? result) {
    try {
      return encodable(result, <Object>['result'], defaultMaxDepth - 1);
    } on FormatException catch (cause) {
      throw failure(ErrorCode.internal, cause.message, cause: cause);
    }
  }

  BridgeException _tooLarge(int size) {
    return failure(
      ErrorCode.tooLarge,
      'The result of the work has $size bytes; at most $maxBytes are stored',
    );
  }

  int _sizeOfError(Object error) {
    final data = error is BridgeException ? error.data : null;
    return sizeOf(messageOf(error)) + _sizeOf(data);
  }

  int _sizeOf(Object? value) {
    try {
      final copy = encodable(value, <Object>['data'], defaultMaxDepth);
      return sizeOf(jsonEncode(copy));
    } on FormatException {
      // It is not sent either.
      return 0;
    }
  }
}
