import 'backoff.dart';
import 'client.dart';
import 'clock.dart';
import 'codes.dart';
import 'connection.dart';
import 'errors.dart';
import 'machine.dart';
import 'models.dart';
import 'options.dart';
import 'socket.dart';
import 'states.dart';

/// How a bridge's connection changes.
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

  /// Where it is now.
  final BridgeState state;

  /// The try that is made or waited for, counted since there was a session; 0
  /// while there is one.
  final int attempt;

  /// Until the next try, of `waiting`.
  final Duration? delay;

  /// How the connection closed, of `waiting` and `closed`.
  final int? code;

  /// Why, of `waiting` and `closed`.
  final String? reason;

  /// The error behind it.
  final BridgeError? error;

  /// What is gone, of `open` in a session in place of one that could not go
  /// on.
  final Lost? lost;

  /// Of `open` in a session that goes on although its server was restarted.
  final bool isRestarted;
}

/// Keeps a session open over as many connections as that takes, one at a time.
final class Link {
  Link(this._client, BridgeOptions options, this._connector)
    : _url = options.url,
      _timeout = options.connectTimeout.inMilliseconds {
    checkRange('connectTimeout', _timeout, 1, longestTimer);
    final again = options.reconnect;
    if (again != null) {
      _backoff = Backoff(
        _client.clock,
        again.minDelay.inMilliseconds,
        again.maxDelay.inMilliseconds,
        again.attempts,
      );
    }
  }

  /// Milliseconds that a session has to live for its end to count as the first
  /// trouble and not as one more.
  static const int steady = 5000;

  final Client _client;
  final Connector _connector;
  final Uri _url;
  final int _timeout;
  final Machine<LinkState, LinkEvent> _life = Machine<LinkState, LinkEvent>(
    linkStart,
    linkTable,
  );

  /// None: the first connection is the last.
  Backoff? _backoff;
  Connection? _connection;
  ClockTimer? _timer;

  /// Tries since there was a session, and troubles in a row: a session that
  /// ends at once is one too.
  int _tries = 0;
  int _troubles = 0;
  int _openSince = 0;

  /// Whether there ever was a session.
  bool _wasOpen = false;

  /// Where it stands.
  LinkState get state => _life.state;

  /// Where it stands, as an app sees it.
  BridgeState get shown => shownStates[state] ?? BridgeState.closed;

  /// Connects for the first time.
  void start() => _connect();

  /// False when it could not be handed to an open socket.
  bool send(String text) => _connection?.send(text) ?? false;

  /// The server is asked to open a session, or to go on with it.
  void asks(LinkEvent event) => _life.fire(event);

  /// Connects now, where it waits to connect.
  void hasten() {
    if (state == LinkState.waiting) _retry();
  }

  /// Gives the connection up, to go on with another.
  void drop(int code, String reason) {
    _connection?.close(Close(code, reason));
  }

  /// Ends everything, and ends when the last socket is gone.
  Future<void> close() async {
    final connection = _connection;
    connection?.close();
    _end(const Close(CloseCode.normal, ''));
    if (connection != null) await connection.ended;
  }

  void _connect() {
    _tries += 1;
    final connection = Connection(
      _url,
      _connector,
      opened: (Connection connection) {
        _client.own(_greet(connection));
      },
      received: _client.receive,
      closed: _over,
    );
    _connection = connection;
    final why = 'no session within $_timeout ms';
    _timer = _client.clock.after(_timeout, () {
      connection.close(Close(1006, why));
    });
  }

  bool _isCurrent(Connection connection) =>
      identical(connection, _connection) && shown == BridgeState.connecting;

  Future<void> _greet(Connection connection) async {
    final membership = _client.membership;
    try {
      await membership.greet(() => _isCurrent(connection));
    } catch (cause) {
      final isAgain = membership.forgives(cause, _wasOpen);
      // When it ended by itself, that has been told already.
      connection.close(
        Close(
          isAgain ? 1006 : CloseCode.normal,
          messageOf(cause),
          cause: cause,
          isFinal: !isAgain,
        ),
      );
      return;
    }
    if (!_isCurrent(connection)) return;
    _timer?.cancel();
    _wasOpen = true;
    _tries = 0;
    _openSince = _client.clock.now();
    _life.fire(LinkEvent.entered);
    _client.changed(
      StateChange(
        shown,
        lost: membership.takeLost(),
        isRestarted: membership.takeRestarted(),
      ),
    );
  }

  void _over(Close close) {
    _timer?.cancel();
    final backoff = _backoff;
    final next = close.isFinal ? AfterClose.none : _client.next(close.code);
    if (backoff == null || next == AfterClose.none) return _end(close);
    final most = backoff.attempts;
    if (most != null && _tries >= most) return _end(close);
    final isOpen = state == LinkState.open;
    final lived = _client.clock.now() - _openSince;
    if (isOpen && lived >= steady) _troubles = 0;
    final isQuick = next == AfterClose.resume && _troubles == 0;
    final delay = isQuick ? 0 : backoff.delay(_troubles);
    _troubles += 1;
    _life.fire(LinkEvent.lost);
    _timer = _client.clock.after(delay, _retry);
    _client.membership.lost(close, isOpen);
    // Who heard of it may have closed all.
    if (state != LinkState.waiting) return;
    _client.changed(
      StateChange(
        shown,
        attempt: _tries + 1,
        delay: Duration(milliseconds: delay),
        code: close.code,
        reason: reasonOf(close),
        error: errorOf(close),
      ),
    );
  }

  void _retry() {
    _timer?.cancel();
    _life.fire(LinkEvent.retry);
    _client.changed(StateChange(shown, attempt: _tries + 1));
    // Who heard of it may have closed all.
    if (state == LinkState.connecting) _connect();
  }

  void _end(Close close) {
    if (state == LinkState.closed) return;
    _timer?.cancel();
    _life.fire(LinkEvent.ended);
    _client.ended(close);
    _client.changed(
      StateChange(
        shown,
        attempt: _tries,
        code: close.code,
        reason: reasonOf(close),
        error: errorOf(close),
      ),
    );
  }
}

/// What an app is told of how a connection ended.
String reasonOf(Close close) {
  if (close.reason == '' && close.code == CloseCode.takenOver) {
    return 'taken over by another connection';
  }
  return close.reason;
}

/// The error behind the end of a connection, where there is one of the
/// bridge's.
BridgeError? errorOf(Close close) {
  final cause = close.cause;
  return cause is BridgeError ? cause : null;
}
