import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/states.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/transcript_matcher.dart';

const List<String> _resume = <String>['resume'];

void main() {
  test('the client retries an unreachable server later', () async {
    final fixture = BridgeFixture();
    fixture.socket.reject();
    await pumpEventQueue();
    expect(fixture.bridge.state == BridgeState.waiting, true);
    expect(fixture.changes.last.delay?.inMilliseconds, 250);
    fixture.clock.advance(250);
    expect(fixture.server.sockets.length, 2);
    fixture.socket.end(1006);
    fixture.socket.reject();
    await pumpEventQueue();
    expect(fixture.changes.last.delay?.inMilliseconds, 500);
    fixture.bridge.wake();
    expect(fixture.server.sockets.length, 3);
    await fixture.openSession();
    await fixture.bridge.close();
    expect(
      difference(<Object?>[
        'waiting',
        'connecting',
        'waiting',
        'connecting',
        'open',
        'closed',
      ], fixture.states),
      null,
    );
    expect(fixture.clock.waiting, 0);
  });

  test('codes of 40xx and normal closes end the bridge', () async {
    for (final code in <int>[1000, 4001, 4009]) {
      final fixture = BridgeFixture();
      await fixture.openSession();
      fixture.socket.end(code);
      await pumpEventQueue();
      expect(fixture.bridge.state == BridgeState.closed, true);
      expect((await fixture.bridge.closed).code, code);
      expect(fixture.clock.waiting, 0);
    }
  });

  test('without subprotocol or reconnecting the bridge closes', () async {
    final other = BridgeFixture();
    other.socket.accept('other');
    await pumpEventQueue();
    expect(other.bridge.state == BridgeState.closed, true);
    final once = BridgeFixture(reconnect: null);
    once.socket.reject();
    await pumpEventQueue();
    expect(once.bridge.state == BridgeState.closed, true);
    final call = once.observe(once.bridge.invoke('action://x'));
    await pumpEventQueue();
    expect(call.code, ErrorCode.unavailable);
  });

  test('a connection without a session times out', () async {
    final fixture = BridgeFixture();
    await fixture.acceptConnection();
    fixture.clock.advance(10000);
    await pumpEventQueue();
    expect(fixture.socket.closedWith, CloseCode.reconnecting);
    expect(fixture.bridge.state == BridgeState.waiting, true);
    await fixture.bridge.close();
  });

  test('a rejected session ends the bridge, overload does not', () async {
    for (final code in <int>[2401, 2503]) {
      final fixture = BridgeFixture();
      final open = await fixture.acceptConnection();
      await fixture.receive(<String, Object?>{
        'id': open['id'],
        'error': <String, Object?>{'code': code, 'message': 'no'},
      });
      final state = code == 2401 ? BridgeState.closed : BridgeState.waiting;
      expect(fixture.bridge.state == state, true);
      await fixture.bridge.close();
    }
  });

  test('a resumed session has each message once, in order', () async {
    final fixture = BridgeFixture(capabilities: _resume);
    await fixture.openSession();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    final two = fixture.observe(fixture.bridge.invoke('action://two'));
    await pumpEventQueue();
    final first = fixture.socket.dequeue();
    expect(first['seq'], 1);
    await fixture.receive(<String, Object?>{...responseTo(first, 1), 'seq': 1});
    await fixture.loseConnection();
    final three = fixture.observe(fixture.bridge.invoke('action://three'));
    final params = await fixture.resumeSession(1);
    expect(params['received'], 1);
    expect(params['sent'], 2);
    final again = fixture.socket.dequeue();
    expect(again['seq'], 2);
    final third = fixture.socket.dequeue();
    expect(third['seq'], 3);
    await fixture.receive(<String, Object?>{...responseTo(first, 1), 'seq': 1});
    await fixture.receive(<String, Object?>{...responseTo(again, 2), 'seq': 2});
    await fixture.receive(<String, Object?>{...responseTo(third, 3), 'seq': 3});
    expect(one.result, 1);
    expect(two.result, 2);
    expect(three.result, 3);
    fixture.clock.advance(500);
    final ack = fixture.socket.dequeue();
    expect(ack['method'], r'$/ack');
    expect(objectOf(ack['params'])['seq'], 3);
    await fixture.bridge.close();
  });

  test('a request with a response is sent again without an id', () async {
    final fixture = BridgeFixture(capabilities: _resume);
    await fixture.openSession();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    final two = fixture.observe(fixture.bridge.invoke('action://two'));
    await pumpEventQueue();
    final first = fixture.socket.dequeue();
    final second = fixture.socket.dequeue();
    await fixture.receive(<String, Object?>{...responseTo(first, 1), 'seq': 1});
    expect(one.result, 1);
    await fixture.loseConnection();
    await fixture.resumeSession(0, <String, Object?>{'restarted': true});
    first.remove('id');
    expect(fixture.socket.dequeue(), first);
    expect(fixture.socket.dequeue(), second);
    await fixture.receive(<String, Object?>{
      ...responseTo(second, 2),
      'seq': 2,
    });
    expect(two.result, 2);
    await fixture.bridge.close();
  });

  test('a gap makes the client reconnect', () async {
    final fixture = BridgeFixture(capabilities: _resume);
    await fixture.openSession();
    await fixture.receive(<String, Object?>{
      'seq': 2,
      'method': 'event',
      'params': <String, Object?>{},
    });
    expect(fixture.socket.closedWith, CloseCode.gap);
    expect(fixture.bridge.state == BridgeState.waiting, true);
    await fixture.bridge.close();
  });

  test('32 messages are acknowledged at once', () async {
    final fixture = BridgeFixture(capabilities: _resume);
    await fixture.openSession();
    for (int seq = 1; seq <= 32; seq += 1) {
      await fixture.receive(<String, Object?>{
        'seq': seq,
        'method': 'event',
        'params': <String, Object?>{'topic': 'a.b', 'data': seq, 'at': 0},
      });
    }
    expect(objectOf(fixture.socket.dequeue()['params'])['seq'], 32);
    await fixture.bridge.close();
  });

  test('calls with a key survive a lost session', () async {
    final fixture = BridgeFixture(capabilities: _resume);
    await fixture.openSession();
    final bare = fixture.observe(fixture.bridge.invoke('action://a'));
    final keyed = fixture.observe(
      fixture.bridge.invoke(
        'action://b',
        options: const CallOptions(key: 'k'),
      ),
    );
    await pumpEventQueue();
    await fixture.loseConnection();
    final open = await fixture.acceptConnection();
    fixture.socket.receive(
      responseTo(open, <String, Object?>{
        ...sessionInfo(_resume),
        'session': 's-2',
        'resumed': false,
        'reason': 'unknown',
      }),
    );
    await pumpEventQueue();
    expect(bare.code, ErrorCode.outcomeUnknown);
    expect(keyed.isOver, false);
    final again = fixture.socket.dequeue();
    expect(objectOf(again['params'])['key'], 'k');
    expect(again['seq'], 1);
    final lost = fixture.changes.last.lost;
    expect(lost?.reason, 'unknown');
    expect(lost?.calls.length, 1);
    expect(fixture.bridge.session?.session, 's-2');
    await fixture.bridge.close();
  });

  test('a silent connection is dropped', () async {
    final fixture = BridgeFixture(ping: const PingOptions());
    await fixture.openSession();
    fixture.clock.advance(25000);
    expect(fixture.socket.dequeue()['method'], r'$/ping');
    fixture.clock.advance(10000);
    await pumpEventQueue();
    expect(fixture.server.sockets.first.closedWith, CloseCode.noPong);
    await fixture.bridge.close();
    expect(fixture.clock.waiting, 0);
  });

  test('a token is renewed before it expires', () async {
    final fixture = BridgeFixture(token: () async => 'secret');
    final open = await fixture.openSession();
    expect(objectOf(open['params'])['token'], 'secret');
    await fixture.receive(<String, Object?>{
      'method': 'event',
      'params': <String, Object?>{
        'topic': 'session.expiring',
        'data': <String, Object?>{'client': 'c-1', 'expiresAt': 5},
        'at': 1,
      },
    });
    final renew = fixture.socket.dequeue();
    expect(renew['method'], 'session.renew');
    final later = <String, Object?>{'expiresAt': 9};
    await fixture.receive(responseTo(renew, later));
    expect(fixture.bridge.session?.expiresAt, 9);
    await fixture.bridge.close();
  });

  test('the client waits as long as the server asks for', () async {
    final fixture = BridgeFixture();
    final open = await fixture.acceptConnection();
    fixture.socket.receive(<String, Object?>{
      'jsonrpc': '2.0',
      'id': open['id'],
      'error': <String, Object?>{
        'code': ErrorCode.unavailable,
        'message': 'full',
        'data': <String, Object?>{
          'kind': 'unavailable',
          'retryable': true,
          'retryAfterMs': 7000,
        },
      },
    });
    // The server closes the connection together with its error.
    fixture.socket.end(4100);
    await pumpEventQueue();
    final change = fixture.changes.last;
    expect(change.delay?.inMilliseconds, 7000);
    expect(change.error?.retryAfter?.inMilliseconds, 7000);
    fixture.clock.advance(6999);
    expect(fixture.server.sockets.length, 1);
    fixture.clock.advance(1);
    expect(fixture.server.sockets.length, 2);
    await fixture.bridge.close();
  });
}
