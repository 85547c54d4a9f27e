import 'dart:math';

import 'clock.dart';
import 'codes.dart';
import 'errors.dart';

/// How long to wait before each try: twice as long each time, and never the
/// same for all clients of a server.
final class Backoff {
  Backoff(this._clock, this._minDelay, this._maxDelay, this.attempts) {
    checkRange('minDelay', _minDelay, 1, _maxDelay);
    checkRange('maxDelay', _maxDelay, _minDelay, longestTimer);
    final most = attempts;
    if (most != null) checkRange('attempts', most, 1, longestTimer);
  }

  final Clock _clock;
  final int _minDelay;
  final int _maxDelay;

  /// Tries that may fail in a row; null: without end.
  final int? attempts;

  /// Milliseconds, from half of the full delay to all of it, after so many
  /// failures in a row before the last.
  int delay(int failures) {
    final full = min(_maxDelay, _minDelay * pow(2, min(failures, 30)));
    return (full * (0.5 + _clock.random() / 2)).round();
  }
}

/// The longest time that timers of all platforms can wait, in milliseconds.
const int longestTimer = 0x7fffffff;

/// Refuses an option that is not of its range.
void checkRange(String name, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw failure(
    ErrorCode.invalidParams,
    '$name is $value; give a whole number from $least to $most',
  );
}
