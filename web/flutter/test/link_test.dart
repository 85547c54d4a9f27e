import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/states.dart';
import 'package:waybridge/src/values.dart';

import 'support/fake_socket.dart';
import 'support/matching.dart';
import 'support/scene.dart';

const List<String> _resume = <String>['resume'];

void main() {
  test('a server that can not be reached is tried again, later', () async {
    final scene = Scene();
    scene.socket.refuse();
    await pumpEventQueue();
    expect(scene.bridge.state == BridgeState.waiting, true);
    expect(scene.changes.last.delay?.inMilliseconds, 250);
    scene.clock.advance(250);
    expect(scene.server.sockets.length, 2);
    scene.socket.end(1006);
    scene.socket.refuse();
    await pumpEventQueue();
    expect(scene.changes.last.delay?.inMilliseconds, 500);
    scene.bridge.wake();
    expect(scene.server.sockets.length, 3);
    await scene.opened();
    await scene.bridge.close();
    expect(
      difference(<Object?>[
        'waiting',
        'connecting',
        'waiting',
        'connecting',
        'open',
        'closed',
      ], scene.states),
      null,
    );
    expect(scene.clock.waiting, 0);
  });

  test('codes of 40xx and normal ends are the end', () async {
    for (final code in <int>[1000, 4001, 4009]) {
      final scene = Scene();
      await scene.opened();
      scene.socket.end(code);
      await pumpEventQueue();
      expect(scene.bridge.state == BridgeState.closed, true);
      expect((await scene.bridge.closed).code, code);
      expect(scene.clock.waiting, 0);
    }
  });

  test('without the subprotocol, or another try, it is the end', () async {
    final other = Scene();
    other.socket.open('other');
    await pumpEventQueue();
    expect(other.bridge.state == BridgeState.closed, true);
    final once = Scene(reconnect: null);
    once.socket.refuse();
    await pumpEventQueue();
    expect(once.bridge.state == BridgeState.closed, true);
    final call = once.watch(once.bridge.invoke('action://x'));
    await pumpEventQueue();
    expect(call.code, ErrorCode.unavailable);
  });

  test('no session in time: the connection is given up', () async {
    final scene = Scene();
    await scene.greeted();
    scene.clock.advance(10000);
    await pumpEventQueue();
    expect(scene.socket.closedWith, CloseCode.reconnecting);
    expect(scene.bridge.state == BridgeState.waiting, true);
    await scene.bridge.close();
  });

  test('a refused session is the end, an overloaded server is not', () async {
    for (final code in <int>[2401, 2503]) {
      final scene = Scene();
      final hello = await scene.greeted();
      await scene.comes(<String, Object?>{
        'id': hello['id'],
        'error': <String, Object?>{'code': code, 'message': 'no'},
      });
      final state = code == 2401 ? BridgeState.closed : BridgeState.waiting;
      expect(scene.bridge.state == state, true);
      await scene.bridge.close();
    }
  });

  test('a session goes on, and messages come once and in order', () async {
    final scene = Scene(capabilities: _resume);
    await scene.opened();
    final one = scene.watch(scene.bridge.invoke('action://one'));
    final two = scene.watch(scene.bridge.invoke('action://two'));
    await pumpEventQueue();
    final first = scene.socket.take();
    expect(first['seq'], 1);
    await scene.comes(<String, Object?>{...answerTo(first, 1), 'seq': 1});
    await scene.lose();
    final three = scene.watch(scene.bridge.invoke('action://three'));
    final params = await scene.resumed(1);
    expect(params['received'], 1);
    expect(params['sent'], 2);
    final again = scene.socket.take();
    expect(again['seq'], 2);
    final third = scene.socket.take();
    expect(third['seq'], 3);
    await scene.comes(<String, Object?>{...answerTo(first, 1), 'seq': 1});
    await scene.comes(<String, Object?>{...answerTo(again, 2), 'seq': 2});
    await scene.comes(<String, Object?>{...answerTo(third, 3), 'seq': 3});
    expect(one.result, 1);
    expect(two.result, 2);
    expect(three.result, 3);
    scene.clock.advance(500);
    final ack = scene.socket.take();
    expect(ack['method'], r'$/ack');
    expect(objectOf(ack['params'])['seq'], 3);
    await scene.bridge.close();
  });

  test('a gap has the connection made anew', () async {
    final scene = Scene(capabilities: _resume);
    await scene.opened();
    await scene.comes(<String, Object?>{
      'seq': 2,
      'method': 'event',
      'params': <String, Object?>{},
    });
    expect(scene.socket.closedWith, CloseCode.gap);
    expect(scene.bridge.state == BridgeState.waiting, true);
    await scene.bridge.close();
  });

  test('32 messages are acknowledged at once', () async {
    final scene = Scene(capabilities: _resume);
    await scene.opened();
    for (int seq = 1; seq <= 32; seq += 1) {
      await scene.comes(<String, Object?>{
        'seq': seq,
        'method': 'event',
        'params': <String, Object?>{'topic': 'a.b', 'data': seq, 'at': 0},
      });
    }
    expect(objectOf(scene.socket.take()['params'])['seq'], 32);
    await scene.bridge.close();
  });

  test('when the session is lost, calls with a key are asked again', () async {
    final scene = Scene(capabilities: _resume);
    await scene.opened();
    final bare = scene.watch(scene.bridge.invoke('action://a'));
    final keyed = scene.watch(
      scene.bridge.invoke(
        'action://b',
        options: const CallOptions(key: 'k'),
      ),
    );
    await pumpEventQueue();
    await scene.lose();
    final hello = await scene.greeted();
    scene.socket.push(
      answerTo(hello, <String, Object?>{
        ...sessionInfo(_resume),
        'session': 's-2',
        'resumed': false,
        'reason': 'unknown',
      }),
    );
    await pumpEventQueue();
    expect(bare.code, ErrorCode.outcomeUnknown);
    expect(keyed.isOver, false);
    final again = scene.socket.take();
    expect(objectOf(again['params'])['key'], 'k');
    expect(again['seq'], 1);
    final lost = scene.changes.last.lost;
    expect(lost?.reason, 'unknown');
    expect(lost?.calls.length, 1);
    expect(scene.bridge.session?.session, 's-2');
    await scene.bridge.close();
  });

  test('a connection that stays silent is given up', () async {
    final scene = Scene(ping: const PingOptions());
    await scene.opened();
    scene.clock.advance(25000);
    expect(scene.socket.take()['method'], r'$/ping');
    scene.clock.advance(10000);
    await pumpEventQueue();
    expect(scene.server.sockets.first.closedWith, CloseCode.noPong);
    await scene.bridge.close();
    expect(scene.clock.waiting, 0);
  });

  test('a token is asked for anew before it expires', () async {
    final scene = Scene(token: () async => 'secret');
    final hello = await scene.opened();
    expect(objectOf(hello['params'])['token'], 'secret');
    await scene.comes(<String, Object?>{
      'method': 'event',
      'params': <String, Object?>{
        'topic': 'session.expiring',
        'data': <String, Object?>{'client': 'c-1', 'expiresAt': 5},
        'at': 1,
      },
    });
    final renew = scene.socket.take();
    expect(renew['method'], 'session.renew');
    final later = <String, Object?>{'expiresAt': 9};
    await scene.comes(answerTo(renew, later));
    expect(scene.bridge.session?.expiresAt, 9);
    await scene.bridge.close();
  });
}
