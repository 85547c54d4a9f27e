import 'dart:async';

import 'calling.dart';
import 'clock.dart';
import 'codes.dart';
import 'connection.dart';
import 'duties.dart';
import 'errors.dart';
import 'link.dart';
import 'liveness.dart';
import 'membership.dart';
import 'news.dart';
import 'options.dart';
import 'peer.dart';
import 'resumption.dart';
import 'socket.dart';
import 'states.dart';

/// A member of a session, over all its connections, and of a new one when that
/// is lost. Its parts know it, and one another by it.
final class Client {
  Client(BridgeOptions options, Connector connector)
    : clock = options.clock ?? PlatformClock(),
      _canRenew = options.token != null {
    calling = Calling(this, options.queueCount, options.queueBytes);
    membership = Membership(this, options);
    link = Link(this, options, connector);
    duties = Duties(this);
    news = News(this, options);
    peer = Peer(this);
    resumption = options.canResume ? Resumption(this) : null;
    final ping = options.ping;
    liveness = ping == null ? null : Liveness(this, ping);
  }

  final Clock clock;
  final bool _canRenew;
  late final Calling calling;
  late final Membership membership;
  late final Link link;

  /// Who answers what others ask.
  late final Duties duties;

  /// Who hears what is published.
  late final News news;
  late final Peer peer;

  /// What lets the session outlive its connections; null: nothing.
  late final Resumption? resumption;

  /// What finds out that a connection is dead; null: nothing.
  late final Liveness? liveness;

  final Completer<Close> _closing = Completer<Close>();
  final StreamController<StateChange> _states =
      StreamController<StateChange>.broadcast(sync: true);
  final StreamController<BridgeError> _errors =
      StreamController<BridgeError>.broadcast(sync: true);

  /// Each change of the connection.
  Stream<StateChange> get states => _states.stream;

  /// What no caller waits for.
  Stream<BridgeError> get errors => _errors.stream;

  /// Ends when it will not connect again.
  Future<Close> get closed => _closing.future;

  /// Tells of what no caller waits for.
  void report(BridgeError error) {
    if (!_errors.isClosed) _errors.add(error);
  }

  /// Takes care of work that nobody waits for: what it throws is reported.
  void own(Future<void> work) => unawaited(_guarded(work));

  /// Tells the app of a change.
  void tell(StateChange change) {
    if (!_states.isClosed) _states.add(change);
  }

  /// What follows a connection that closed with this code.
  AfterClose next(int code) {
    if (code == CloseCode.tokenRenewal && !_canRenew) return AfterClose.none;
    return CloseCode.next(code);
  }

  /// A message has come.
  void receive(Object? data) {
    liveness?.heard();
    peer.receive(data);
    resumption?.settle();
  }

  /// The link has changed, after all else.
  void changed(StateChange change) {
    liveness?.changed(change.state);
    news.compare(membership.session);
    tell(change);
    if (change.state != BridgeState.closed) return;
    unawaited(_states.close());
    unawaited(_errors.close());
  }

  /// The last connection has ended.
  void ended(Close close) {
    final cause = close.cause;
    membership.leave();
    peer.serving.interrupt(closedError(close, true));
    calling.close(close);
    membership.fail(cause is BridgeError ? cause : closedError(close, false));
    if (!_closing.isCompleted) _closing.complete(close);
  }

  Future<void> _guarded(Future<void> work) async {
    try {
      await work;
    } catch (cause) {
      report(failure(ErrorCode.internal, messageOf(cause), cause: cause));
    }
  }
}
