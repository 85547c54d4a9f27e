import 'dart:math';

import 'backoff.dart';
import 'client.dart';
import 'clock.dart';
import 'codes.dart';
import 'errors.dart';
import 'options.dart';
import 'states.dart';

/// Detects a dead connection, which a socket does not report by itself. After a
/// time without messages it sends a ping, and drops the connection if there is
/// no response. When the app is in the foreground again, it sends one at once.
final class Liveness {
  Liveness(this._client, PingOptions options)
    : _after = options.after.inMilliseconds,
      _timeout = options.timeout.inMilliseconds {
    checkRange('ping.after', _after, 1, maxTimeout);
    checkRange('ping.timeout', _timeout, 1, maxTimeout);
  }

  /// Milliseconds without a response to a ping when there is a reason to check
  /// the connection.
  static const int checkTimeout = 5000;

  /// Milliseconds by which a timer can be late. If it is later, the app itself
  /// was suspended.
  static const int maxTimerDelay = 2000;

  final Client _client;
  final int _after;
  final int _timeout;
  ClockTimer? _timer;
  int _receivedAt = 0;

  /// Whether a message was received since the last ping.
  bool _hasReceived = false;
  bool _isOpen = false;

  /// Called when the connection has changed.
  void changed(BridgeState state) {
    _isOpen = state == BridgeState.open;
    _timer?.cancel();
    if (!_isOpen) return;
    received();
    _scheduleCheck(_after);
  }

  /// Called when a message was received.
  void received() {
    _hasReceived = true;
    _receivedAt = _client.clock.now();
  }

  /// Checks the connection, or reconnects now.
  void check() {
    if (_isOpen) {
      _sendPing(min(checkTimeout, _timeout));
    } else {
      _client.connection.reconnect();
    }
  }

  void _scheduleCheck(int delay) {
    _startTimer(delay, () {
      final rest = _receivedAt + _after - _client.clock.now();
      if (rest > 0) {
        _scheduleCheck(rest);
      } else {
        _sendPing(_timeout);
      }
    });
  }

  void _sendPing(int timeout) {
    final sentAt = _client.clock.now();
    _hasReceived = false;
    _client.runDetached(_ping());
    _startTimer(timeout, () {
      final waited = _client.clock.now() - sentAt;
      if (_hasReceived) {
        _scheduleCheck(_after);
      } else if (waited > timeout + maxTimerDelay) {
        // The app was suspended: a message could not be processed meanwhile.
        _sendPing(timeout);
      } else {
        final why = 'No message within $timeout ms after a ping';
        _client.connection.drop(CloseCode.noPong, why);
      }
    });
  }

  Future<void> _ping() async {
    try {
      await _client.outgoing.ping();
    } on BridgeException {
      // Only missing messages count, not the result of the ping.
    }
  }

  void _startTimer(int delay, void Function() body) {
    _timer?.cancel();
    _timer = _client.clock.after(delay, body);
  }
}
