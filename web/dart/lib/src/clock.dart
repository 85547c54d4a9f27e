import 'dart:async';
import 'dart:math';

/// A timer, which can be cancelled.
abstract interface class ClockTimer {
  /// Has no effect after the timer has fired.
  void cancel();
}

/// Timers, time and random numbers, which tests can replace.
abstract interface class Clock {
  /// Runs [body] after this number of milliseconds.
  ClockTimer after(int milliseconds, void Function() body);

  /// Milliseconds since a fixed point in time; never decreases.
  int now();

  /// At least 0 and less than 1.
  double random();
}

/// The timers, time and random numbers of the platform.
final class PlatformClock implements Clock {
  final Stopwatch _watch = Stopwatch();
  final Random _random = Random();

  @override
  ClockTimer after(int milliseconds, void Function() body) {
    return _PlatformTimer(Timer(Duration(milliseconds: milliseconds), body));
  }

  @override
  int now() {
    _watch.start();
    return _watch.elapsedMilliseconds;
  }

  @override
  double random() => _random.nextDouble();
}

final class _PlatformTimer implements ClockTimer {
  _PlatformTimer(this._timer);

  final Timer _timer;

  @override
  void cancel() => _timer.cancel();
}
