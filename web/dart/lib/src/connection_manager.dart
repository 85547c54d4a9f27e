import 'dart:math';

import 'backoff.dart';
import 'client.dart';
import 'clock.dart';
import 'codes.dart';
import 'connection.dart';
import 'errors.dart';
import 'failures.dart';
import 'models.dart';
import 'options.dart';
import 'socket.dart';
import 'state_machine.dart';
import 'states.dart';

/// A change of a bridge's connection.
final class StateChange {
  const StateChange(
    this.state, {
    this.attempt = 0,
    this.delay,
    this.code,
    this.reason,
    this.error,
    this.lost,
    this.isRestarted = false,
  });

  /// The state of the connection.
  final BridgeState state;

  /// The number of the current or next attempt to connect since there was a
  /// session; 0 while there is a session.
  final int attempt;

  /// Only of `waiting`: the delay of the next attempt.
  final Duration? delay;

  /// Only of `waiting` and `closed`: the close code.
  final int? code;

  /// Only of `waiting` and `closed`: the reason.
  final String? reason;

  /// The error that caused it.
  final BridgeException? error;

  /// Only of `open`, in a session that replaces a lost one: what was lost.
  final SessionLoss? lost;

  /// Only of `open`: whether the session was resumed after a restart of its
  /// server.
  final bool isRestarted;
}

/// Keeps a session open over several connections, one at a time.
final class ConnectionManager {
  ConnectionManager(this._client, BridgeOptions options, this._connector)
    : _url = options.url,
      _connectTimeout = options.connectTimeout.inMilliseconds {
    checkRange('connectTimeout', _connectTimeout, 1, maxTimeout);
    final retryOptions = options.reconnect;
    if (retryOptions != null) {
      _backoff = Backoff(
        _client.clock,
        retryOptions.minDelay.inMilliseconds,
        retryOptions.maxDelay.inMilliseconds,
        retryOptions.attempts,
      );
    }
  }

  /// Milliseconds after which an open session is stable: if it ends later, the
  /// count of consecutive failures starts again.
  static const int stableDuration = 5000;

  final Client _client;
  final Connector _connector;
  final Uri _url;
  final int _connectTimeout;
  final StateMachine<LinkState, LinkEvent> _machine =
      StateMachine<LinkState, LinkEvent>(linkStart, linkTable);

  /// Null: the client does not reconnect.
  Backoff? _backoff;
  Connection? _connection;
  ClockTimer? _timer;

  /// Attempts since there was a session, and consecutive failures. A session
  /// that ends at once counts as a failure.
  int _attempts = 0;
  int _failures = 0;
  int _openSince = 0;

  /// Whether there ever was a session.
  bool _wasOpen = false;

  /// The state of the connection.
  LinkState get state => _machine.state;

  /// The state of the connection, as an app sees it.
  BridgeState get bridgeState => shownStates[state] ?? BridgeState.closed;

  /// Connects for the first time.
  void start() => _connect();

  /// Returns false if no socket is open.
  bool send(String text) => _connection?.send(text) ?? false;

  /// Applies the event of a request that opens or resumes a session.
  void apply(LinkEvent event) => _machine.apply(event);

  /// Reconnects now, if the client is waiting to reconnect.
  void reconnect() {
    if (state == LinkState.waiting) _retry();
  }

  /// Closes the connection in order to reconnect.
  void drop(int code, String reason) {
    _connection?.close(Close(code, reason));
  }

  /// Closes the connection permanently. Completes when the socket is closed.
  Future<void> close() async {
    final connection = _connection;
    connection?.close();
    _end(const Close(CloseCode.normal, ''));
    if (connection != null) await connection.ended;
  }

  void _connect() {
    _attempts += 1;
    final connection = Connection(
      _url,
      _connector,
      opened: (Connection connection) {
        _client.runDetached(_openSession(connection));
      },
      received: _client.receive,
      closed: _connectionLost,
    );
    _connection = connection;
    final why = 'No session within $_connectTimeout ms';
    _timer = _client.clock.after(_connectTimeout, () {
      connection.close(Close(1006, why));
    });
  }

  bool _isCurrent(Connection connection) =>
      identical(connection, _connection) &&
      bridgeState == BridgeState.connecting;

  Future<void> _openSession(Connection connection) async {
    final sessions = _client.sessions;
    try {
      await sessions.open(
        () => _isCurrent(connection),
        // The server can close the connection together with its error.
        (BridgeException error) => _rejected(connection, error),
      );
    } catch (cause) {
      _rejected(connection, cause);
      return;
    }
    if (!_isCurrent(connection)) return;
    _timer?.cancel();
    _wasOpen = true;
    _attempts = 0;
    _openSince = _client.clock.now();
    _machine.apply(LinkEvent.entered);
    _client.changed(
      StateChange(
        bridgeState,
        lost: sessions.consumeLost(),
        isRestarted: sessions.consumeRestarted(),
      ),
    );
  }

  /// Called when no session was opened on a connection.
  void _rejected(Connection connection, Object cause) {
    if (!_isCurrent(connection)) return;
    final isRetryable = _client.sessions.canRetry(cause, _wasOpen);
    connection.close(
      Close(
        isRetryable ? 1006 : CloseCode.normal,
        messageOf(cause),
        cause: cause,
        isFinal: !isRetryable,
      ),
    );
  }

  void _connectionLost(Close close) {
    _timer?.cancel();
    final backoff = _backoff;
    final next = close.isFinal ? AfterClose.none : _client.next(close.code);
    if (backoff == null || next == AfterClose.none) return _end(close);
    final most = backoff.attempts;
    if (most != null && _attempts >= most) return _end(close);
    final isOpen = state == LinkState.open;
    final lived = _client.clock.now() - _openSince;
    if (isOpen && lived >= stableDuration) _failures = 0;
    final isImmediate = next == AfterClose.resume && _failures == 0;
    final asked = errorOf(close)?.retryAfter?.inMilliseconds ?? 0;
    final delay = min(
      max(isImmediate ? 0 : backoff.delay(_failures), asked),
      maxTimeout,
    );
    _failures += 1;
    _machine.apply(LinkEvent.lost);
    _timer = _client.clock.after(delay, _retry);
    _client.sessions.lost(close, isOpen);
    // A listener may have closed the bridge.
    if (state != LinkState.waiting) return;
    _client.changed(
      StateChange(
        bridgeState,
        attempt: _attempts + 1,
        delay: Duration(milliseconds: delay),
        code: close.code,
        reason: reasonOf(close),
        error: errorOf(close),
      ),
    );
  }

  void _retry() {
    _timer?.cancel();
    _machine.apply(LinkEvent.retry);
    _client.changed(StateChange(bridgeState, attempt: _attempts + 1));
    // A listener may have closed the bridge.
    if (state == LinkState.connecting) _connect();
  }

  void _end(Close close) {
    if (state == LinkState.closed) return;
    _timer?.cancel();
    _machine.apply(LinkEvent.ended);
    _client.ended(close);
    _client.changed(
      StateChange(
        bridgeState,
        attempt: _attempts,
        code: close.code,
        reason: reasonOf(close),
        error: errorOf(close),
      ),
    );
  }
}

/// The reason that an app receives for a closed connection.
String reasonOf(Close close) {
  if (close.reason == '' && close.code == CloseCode.takenOver) {
    return 'Another connection took over';
  }
  return close.reason;
}

/// The error that closed a connection, if it is a [BridgeException].
BridgeException? errorOf(Close close) {
  final cause = close.cause;
  return cause is BridgeException ? cause : null;
}
