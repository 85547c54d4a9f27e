import 'dart:math';

import 'clock.dart';
import 'codes.dart';
import 'failures.dart';

/// The delay before each attempt to connect. It doubles each time, and is
/// random so that clients do not reconnect at the same time.
final class Backoff {
  Backoff(this._clock, this._minDelay, this._maxDelay, this.attempts) {
    checkRange('minDelay', _minDelay, 1, _maxDelay);
    checkRange('maxDelay', _maxDelay, _minDelay, maxTimeout);
    final most = attempts;
    if (most != null) checkRange('attempts', most, 1, maxTimeout);
  }

  final Clock _clock;
  final int _minDelay;
  final int _maxDelay;

  /// Number of consecutive failures that are allowed; null: no limit.
  final int? attempts;

  /// Returns the delay in milliseconds after this number of consecutive
  /// failures: between half of the full delay and all of it.
  int delay(int failures) {
    final full = min(_maxDelay, _minDelay * pow(2, min(failures, 30)));
    return (full * (0.5 + _clock.random() / 2)).round();
  }
}

/// The longest timeout that timers of all platforms support, in milliseconds.
const int maxTimeout = 0x7fffffff;

/// Throws if an option is not in its range.
void checkRange(String name, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw failure(
    ErrorCode.invalidParams,
    '$name cannot be $value; it must be an integer from $least to $most',
  );
}
