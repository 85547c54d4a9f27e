import 'package:waybridge/src/clock.dart';

final class _ManualTimer implements ClockTimer {
  _ManualTimer(this.due, this.body);

  final int due;
  final void Function() body;
  bool isCancelled = false;

  @override
  void cancel() {
    isCancelled = true;
  }
}

/// A clock that a test advances, with a constant random number.
final class ManualClock implements Clock {
  int _now = 0;
  final List<_ManualTimer> _timers = <_ManualTimer>[];

  @override
  ClockTimer after(int milliseconds, void Function() body) {
    final timer = _ManualTimer(_now + milliseconds, body);
    _timers.add(timer);
    return timer;
  }

  @override
  int now() => _now;

  @override
  double random() => 0;

  /// Advances the time and fires the timers that are due, in order.
  void advance(int milliseconds) {
    final end = _now + milliseconds;
    while (true) {
      final next = _next(end);
      if (next == null) break;
      _timers.remove(next);
      _now = next.due;
      if (!next.isCancelled) {
        final body = next.body;
        body();
      }
    }
    _now = end;
  }

  /// The number of waiting timers.
  int get waiting {
    return _timers.where((_ManualTimer each) => !each.isCancelled).length;
  }

  _ManualTimer? _next(int end) {
    _ManualTimer? next;
    for (final each in _timers) {
      if (each.due > end) continue;
      if (next == null || each.due < next.due) next = each;
    }
    return next;
  }
}
