import 'package:test/test.dart';
import 'package:waybridge/src/bridge.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/link.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/states.dart';
import 'package:waybridge/src/values.dart';

import 'fake_socket.dart';
import 'manual_clock.dart';

/// What a future came to.
final class Watched {
  Object? result;
  Object? error;
  bool isOver = false;

  /// The code of the error; 0 where there is none.
  int get code {
    final thrown = error;
    return thrown is BridgeError ? thrown.code : 0;
  }
}

/// A bridge, its fake server, and what it has told.
final class Scene {
  Scene({
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
    bridge.errors.listen((BridgeError error) => errors.add(error));
  }

  /// What the server can do.
  final List<String> capabilities;
  final FakeServer server = FakeServer();
  final ManualClock clock = ManualClock();
  final List<StateChange> changes = <StateChange>[];
  final List<BridgeError> errors = <BridgeError>[];
  late final Bridge bridge;

  /// The socket at hand.
  FakeSocket get socket => server.last;

  /// The states that were told, in their order.
  List<String> get states {
    return changes.map((StateChange change) => change.state.name).toList();
  }

  /// The handshake succeeds; gives the first request.
  Future<Json> greeted() async {
    socket.open();
    await pumpEventQueue();
    return socket.take();
  }

  /// A session opens.
  Future<Json> opened([Json? info]) async {
    final hello = await greeted();
    socket.push(answerTo(hello, info ?? sessionInfo(capabilities)));
    await pumpEventQueue();
    expect(bridge.state == BridgeState.open, true);
    return hello;
  }

  /// The connection is lost, and the next one is made.
  Future<void> lose([int code = 4200]) async {
    socket.end(code);
    await pumpEventQueue();
    clock.advance(30000);
    await pumpEventQueue();
  }

  /// The session goes on, as far as the server has taken messages.
  Future<Json> resumed(int received, [Json? more]) async {
    final hello = await greeted();
    expect(hello['method'], 'session.resume');
    final info = <String, Object?>{
      ...sessionInfo(capabilities),
      'resumed': true,
      'received': received,
      'sent': objectOf(hello['params'])['received'],
      'pending': <Object?>[],
    };
    if (more != null) info.addAll(more);
    socket.push(answerTo(hello, info));
    await pumpEventQueue();
    // First of all the server is told that the new token has come.
    expect(socket.take()['method'], r'$/ack');
    return objectOf(hello['params']);
  }

  /// A message of the server's comes.
  Future<void> comes(Json message) async {
    socket.push(<String, Object?>{'jsonrpc': '2.0', ...message});
    await pumpEventQueue();
  }

  /// Watches a future.
  Watched watch(Future<Object?> future) {
    final watched = Watched();
    _follow(watched, future).ignore();
    return watched;
  }

  /// The same of a future without a value.
  Watched watchEnd(Future<void> future) => watch(_ended(future));

  Future<Object?> _ended(Future<void> future) async {
    await future;
    return null;
  }

  Future<void> _follow(Watched watched, Future<Object?> future) async {
    try {
      watched.result = await future;
    } catch (error) {
      watched.error = error;
    }
    watched.isOver = true;
  }
}
