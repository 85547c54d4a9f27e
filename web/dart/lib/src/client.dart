import 'dart:async';

import 'client_hosts.dart';
import 'clock.dart';
import 'codes.dart';
import 'connection.dart';
import 'connection_manager.dart';
import 'errors.dart';
import 'failures.dart';
import 'liveness.dart';
import 'message_encoder.dart';
import 'options.dart';
import 'outgoing_requests.dart';
import 'peer.dart';
import 'resumption.dart';
import 'sessions.dart';
import 'socket.dart';
import 'states.dart';
import 'subscriptions.dart';

/// A client of a session over all its connections, and of a new session when
/// that is lost. Its parts reach one another through it.
final class Client {
  Client(BridgeOptions options, Connector connector)
    : clock = options.clock ?? PlatformClock(),
      _canRenew = options.token != null {
    outgoing = OutgoingRequests(this, options.queueCount, options.queueBytes);
    sessions = Sessions(this, options);
    connection = ConnectionManager(this, options, connector);
    hosts = ClientHosts(this);
    subscriptions = Subscriptions(this, options);
    peer = Peer(this);
    resumption = options.canResume ? Resumption(this) : null;
    final ping = options.ping;
    liveness = ping == null ? null : Liveness(this, ping);
  }

  final Clock clock;
  final bool _canRenew;

  /// Encodes the messages of this client.
  final MessageEncoder encoder = MessageEncoder();
  late final OutgoingRequests outgoing;
  late final Sessions sessions;
  late final ConnectionManager connection;

  /// Handles received requests.
  late final ClientHosts hosts;

  /// The subscriptions to topics.
  late final Subscriptions subscriptions;
  late final Peer peer;

  /// Resumes the session on another connection; null: it cannot be resumed.
  late final Resumption? resumption;

  /// Detects a dead connection; null: nothing does.
  late final Liveness? liveness;

  final Completer<Close> _closing = Completer<Close>();
  final StreamController<StateChange> _states =
      StreamController<StateChange>.broadcast(sync: true);
  final StreamController<BridgeException> _errors =
      StreamController<BridgeException>.broadcast(sync: true);

  /// Each change of the connection.
  Stream<StateChange> get states => _states.stream;

  /// Errors that do not belong to a call.
  Stream<BridgeException> get errors => _errors.stream;

  /// Completes when the client will not reconnect.
  Future<Close> get closed => _closing.future;

  /// Reports an error that does not belong to a call.
  void report(BridgeException error) {
    if (!_errors.isClosed) _errors.add(error);
  }

  /// Runs work without awaiting it, and reports its errors.
  void runDetached(Future<void> work) => unawaited(_reportErrors(work));

  /// Emits a change of the connection to the app.
  void emit(StateChange change) {
    if (!_states.isClosed) _states.add(change);
  }

  /// Returns the next step after a connection closed with this code.
  AfterClose next(int code) {
    if (code == CloseCode.tokenRenewal && !_canRenew) return AfterClose.none;
    return CloseCode.next(code);
  }

  /// Receives a message.
  void receive(Object? data) {
    liveness?.received();
    peer.receive(data);
    resumption?.acknowledge();
  }

  /// Called when the connection has changed, after everything else.
  void changed(StateChange change) {
    liveness?.changed(change.state);
    subscriptions.compare(sessions.session);
    emit(change);
    if (change.state != BridgeState.closed) return;
    unawaited(_states.close());
    unawaited(_errors.close());
  }

  /// Called when the last connection has closed.
  void ended(Close close) {
    final cause = close.cause;
    sessions.end();
    peer.incoming.interrupt(closedException(close, true));
    outgoing.close(close);
    sessions.fail(
      cause is BridgeException ? cause : closedException(close, false),
    );
    if (!_closing.isCompleted) _closing.complete(close);
  }

  Future<void> _reportErrors(Future<void> work) async {
    try {
      await work;
    } catch (cause) {
      report(failure(ErrorCode.internal, messageOf(cause), cause: cause));
    }
  }
}
