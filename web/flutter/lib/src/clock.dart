import 'dart:async';
import 'dart:math';

/// Something that will happen, unless it is cancelled.
abstract interface class ClockTimer {
  /// Does nothing where it has happened already.
  void cancel();
}

/// Time and chance, so that tests can hand in their own.
abstract interface class Clock {
  /// Runs [body] in so many milliseconds.
  ClockTimer after(int milliseconds, void Function() body);

  /// Milliseconds since some moment; never goes back.
  int now();

  /// From 0 to less than 1.
  double random();
}

/// The platform's time and chance.
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
