import 'dart:math';

import 'backoff.dart';
import 'client.dart';
import 'clock.dart';
import 'codes.dart';
import 'errors.dart';
import 'options.dart';
import 'states.dart';

/// Finds out that a connection is dead, which no socket tells by itself: when
/// nothing has come for a while it asks, and gives the connection up that stays
/// silent. When the app is looked at again it asks at once.
final class Liveness {
  Liveness(this._client, PingOptions options)
    : _after = options.after.inMilliseconds,
      _timeout = options.timeout.inMilliseconds {
    checkRange('ping.after', _after, 1, longestTimer);
    checkRange('ping.timeout', _timeout, 1, longestTimer);
  }

  /// Milliseconds that an answer may take when there is reason to doubt the
  /// connection.
  static const int doubt = 5000;

  /// Milliseconds by which a timer may be late before it shows that the app
  /// itself stood still.
  static const int lateness = 2000;

  final Client _client;
  final int _after;
  final int _timeout;
  ClockTimer? _timer;
  int _heardAt = 0;

  /// Whether something has come since it asked.
  bool _hasHeard = false;
  bool _isOpen = false;

  /// The connection has changed.
  void changed(BridgeState state) {
    _isOpen = state == BridgeState.open;
    _timer?.cancel();
    if (!_isOpen) return;
    heard();
    _wait(_after);
  }

  /// Something has come.
  void heard() {
    _hasHeard = true;
    _heardAt = _client.clock.now();
  }

  /// There is reason to look how the connection is.
  void wake() {
    if (_isOpen) {
      _ask(min(doubt, _timeout));
    } else {
      _client.link.hasten();
    }
  }

  void _wait(int delay) {
    _later(delay, () {
      final rest = _heardAt + _after - _client.clock.now();
      if (rest > 0) {
        _wait(rest);
      } else {
        _ask(_timeout);
      }
    });
  }

  void _ask(int timeout) {
    final askedAt = _client.clock.now();
    _hasHeard = false;
    _client.own(_ping());
    _later(timeout, () {
      final waited = _client.clock.now() - askedAt;
      if (_hasHeard) {
        _wait(_after);
      } else if (waited > timeout + lateness) {
        // What has come meanwhile could not be heard.
        _ask(timeout);
      } else {
        final why = 'nothing came within $timeout ms after a ping';
        _client.link.drop(CloseCode.noPong, why);
      }
    });
  }

  Future<void> _ping() async {
    try {
      await _client.calling.ping();
    } on BridgeError {
      // That nothing comes is what counts.
    }
  }

  void _later(int delay, void Function() body) {
    _timer?.cancel();
    _timer = _client.clock.after(delay, body);
  }
}
