import 'package:test/test.dart';
import 'package:waybridge/src/bridge.dart';
import 'package:waybridge/src/connection_manager.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/states.dart';
import 'package:waybridge/src/values.dart';

import 'fake_socket.dart';
import 'manual_clock.dart';

/// The result or the error of a future.
final class ObservedFuture {
  Object? result;
  Object? error;
  bool isOver = false;

  /// The code of the error; 0 if there is none.
  int get code {
    final thrown = error;
    return thrown is BridgeException ? thrown.code : 0;
  }
}

/// A bridge, its fake server, and the changes and errors that it has emitted.
final class BridgeFixture {
  BridgeFixture({
    this.capabilities = const <String>[],
    PingOptions? ping,
    ReconnectOptions? reconnect = const ReconnectOptions(),
    Future<String> Function()? token,
    int queueCount = 256,
  }) {
    bridge = Bridge(
      BridgeOptions(
        url: Uri.parse('ws://127.0.0.1:1/bridge'),
        ping: ping,
        reconnect: reconnect,
        token: token,
        queueCount: queueCount,
        clock: clock,
      ),
      server.connect,
    );
    bridge.states.listen((StateChange change) => changes.add(change));
    bridge.errors.listen((BridgeException error) => errors.add(error));
  }

  /// The capabilities of the server.
  final List<String> capabilities;
  final FakeServer server = FakeServer();
  final ManualClock clock = ManualClock();
  final List<StateChange> changes = <StateChange>[];
  final List<BridgeException> errors = <BridgeException>[];
  late final Bridge bridge;

  /// The current socket.
  FakeSocket get socket => server.last;

  /// The emitted states, in order.
  List<String> get states {
    return changes.map((StateChange change) => change.state.name).toList();
  }

  /// Completes the handshake. Returns the first request.
  Future<Json> acceptConnection() async {
    socket.accept();
    await pumpEventQueue();
    return socket.dequeue();
  }

  /// Opens a session.
  Future<Json> openSession([Json? info]) async {
    final request = await acceptConnection();
    socket.receive(responseTo(request, info ?? sessionInfo(capabilities)));
    await pumpEventQueue();
    expect(bridge.state == BridgeState.open, true);
    return request;
  }

  /// Closes the connection and waits for the next one.
  Future<void> loseConnection([int code = 4200]) async {
    socket.end(code);
    await pumpEventQueue();
    clock.advance(30000);
    await pumpEventQueue();
  }

  /// Resumes the session; the server has received messages up to a number.
  Future<Json> resumeSession(int received, [Json? more]) async {
    final request = await acceptConnection();
    expect(request['method'], 'session.resume');
    final info = <String, Object?>{
      ...sessionInfo(capabilities),
      'resumed': true,
      'received': received,
      'sent': objectOf(request['params'])['received'],
      'pending': <Object?>[],
    };
    if (more != null) info.addAll(more);
    socket.receive(responseTo(request, info));
    await pumpEventQueue();
    // The client first sends an acknowledgement, which confirms the new token
    // to the server.
    expect(socket.dequeue()['method'], r'$/ack');
    return objectOf(request['params']);
  }

  /// Delivers a message of the server to the client.
  Future<void> receive(Json message) async {
    socket.receive(<String, Object?>{'jsonrpc': '2.0', ...message});
    await pumpEventQueue();
  }

  /// Observes a future.
  ObservedFuture observe(Future<Object?> future) {
    final observed = ObservedFuture();
    _record(observed, future).ignore();
    return observed;
  }

  /// Observes a future without a value.
  ObservedFuture observeCompletion(Future<void> future) {
    return observe(_awaited(future));
  }

  Future<Object?> _awaited(Future<void> future) async {
    await future;
    return null;
  }

  Future<void> _record(ObservedFuture observed, Future<Object?> future) async {
    try {
      observed.result = await future;
    } catch (error) {
      observed.error = error;
    }
    observed.isOver = true;
  }
}
