import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/states.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/transcript_matcher.dart';

const List<String> _resume = <String>['resume'];

/// The error about a message that the server could not read.
Json _unreadable(Object? id, {int? seq, int? about}) {
  return <String, Object?>{
    'id': id,
    'error': <String, Object?>{
      'code': ErrorCode.parseError,
      'message': 'not JSON',
      'data': withoutNulls(<String, Object?>{
        'kind': 'parseError',
        'retryable': false,
        'seq': about,
      }),
    },
    if (seq != null) 'seq': seq,
  };
}

Json _task(int seq) {
  return <String, Object?>{
    'id': 'own',
    'seq': seq,
    'method': 'task.run',
    'params': <String, Object?>{
      'uri': 'action://x',
      'host': <String, Object?>{'pattern': 'action://x', 'kind': 'task'},
    },
  };
}

/// A bridge with an open session whose messages have numbers.
Future<BridgeFixture> _numbered() async {
  final fixture = BridgeFixture(capabilities: _resume);
  fixture.bridge.task('action://x', (Json params, HostCall call) {
    call.progress('half');
    return 'whole';
  });
  await fixture.openSession();
  return fixture;
}

void main() {
  test('a call that the server could not read fails', () async {
    final fixture = await _numbered();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    final two = fixture.observe(fixture.bridge.invoke('action://two'));
    await pumpEventQueue();
    final first = fixture.socket.dequeue();
    await fixture.receive(_unreadable(null, seq: 1));
    expect(fixture.socket.closedWith, CloseCode.reconnecting);
    expect(one.isOver, false);
    fixture.clock.advance(0);
    final params = await fixture.resumeSession(0);
    expect(params['received'], 1);
    expect(one.code, ErrorCode.parseError);
    expect(two.isOver, false);
    expect(fixture.socket.dequeue()['method'], r'$/ping');
    expect(
      difference(<String, Object?>{
        'seq': 1,
        'jsonrpc': '2.0',
        'method': r'$/cancelRequest',
        'params': <String, Object?>{'id': first['id']},
      }, fixture.socket.dequeue()),
      null,
    );
    final again = fixture.socket.dequeue();
    expect(again['seq'], 2);
    await fixture.receive(<String, Object?>{...responseTo(again, 2), 'seq': 2});
    expect(two.result, 2);
    expect(fixture.errors.isEmpty, true);
    await fixture.bridge.close();
  });

  test('progress and a response that it could not read', () async {
    final fixture = await _numbered();
    await fixture.receive(_task(1));
    await fixture.receive(_unreadable(null, seq: 2));
    fixture.clock.advance(0);
    await fixture.resumeSession(0);
    final ping = fixture.socket.dequeue();
    final progress = fixture.socket.dequeue();
    expect(progress['method'], r'$/cancelRequest');
    expect(progress['seq'], 1);
    expect(objectOf(progress['params'])['id'], null);
    expect(fixture.socket.dequeue()['result'], 'whole');
    expect(fixture.errors.last.code, ErrorCode.parseError);
    await fixture.receive(responseTo(ping, null));
    // Now the response is the unreadable one.
    await fixture.receive(_unreadable(null, seq: 3));
    fixture.clock.advance(1000);
    await fixture.resumeSession(1);
    expect(fixture.socket.dequeue()['method'], r'$/ping');
    final response = fixture.socket.dequeue();
    expect(response['seq'], 2);
    expect(response['id'], 'own');
    expect(objectOf(response['error'])['code'], ErrorCode.internal);
    expect(fixture.errors.length, 2);
    await fixture.bridge.close();
  });

  test('errors about an earlier connection are ignored', () async {
    final fixture = await _numbered();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    final two = fixture.observe(fixture.bridge.invoke('action://two'));
    await pumpEventQueue();
    await fixture.receive(_unreadable(null, seq: 1));
    fixture.clock.advance(0);
    await fixture.resumeSession(0);
    final ping = fixture.socket.dequeue();
    await fixture.receive(_unreadable(null, seq: 2));
    expect(fixture.bridge.state == BridgeState.open, true);
    await fixture.receive(responseTo(ping, null));
    await fixture.receive(_unreadable(null, seq: 3));
    expect(fixture.bridge.state == BridgeState.waiting, true);
    expect(one.isOver, true);
    expect(two.isOver, false);
    await fixture.bridge.close();
  });

  test('the server names the call or the number', () async {
    final fixture = await _numbered();
    final calls = <ObservedFuture>[];
    for (final name in <String>['a', 'b', 'c']) {
      calls.add(fixture.observe(fixture.bridge.invoke('action://$name')));
    }
    await pumpEventQueue();
    final first = fixture.socket.dequeue();
    final id = first['id'];
    await fixture.receive(_unreadable(id, seq: 1, about: 1));
    expect(calls[0].code, ErrorCode.parseError);
    await fixture.receive(_unreadable(null, seq: 2, about: 2));
    expect(calls[1].code, ErrorCode.parseError);
    expect(calls[2].isOver, false);
    expect(fixture.errors.isEmpty, true);
    // A message that is no call.
    await fixture.receive(_unreadable(null, seq: 3, about: 9));
    expect(fixture.errors.length, 1);
    expect(fixture.bridge.state == BridgeState.open, true);
    await fixture.bridge.close();
  });

  test('a call that is read only in part is not sent again', () async {
    final fixture = await _numbered();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    await pumpEventQueue();
    final id = fixture.socket.dequeue()['id'];
    await fixture.receive(_unreadable(id, seq: 1));
    expect(one.code, ErrorCode.parseError);
    expect(fixture.bridge.state == BridgeState.waiting, true);
    fixture.clock.advance(0);
    await fixture.resumeSession(0);
    expect(fixture.socket.dequeue()['method'], r'$/ping');
    expect(fixture.socket.dequeue()['method'], r'$/cancelRequest');
    expect(fixture.socket.sent.isEmpty, true);
    expect(fixture.errors.isEmpty, true);
    await fixture.bridge.close();
  });

  test('without numbers the error is reported', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    await fixture.receive(_unreadable(null));
    expect(fixture.errors.last.code, ErrorCode.parseError);
    expect(fixture.bridge.state == BridgeState.open, true);
    await fixture.bridge.close();
  });

  test('a restarted server reports it again', () async {
    final fixture = await _numbered();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    await pumpEventQueue();
    await fixture.receive(_unreadable(null, seq: 1));
    fixture.clock.advance(0);
    await fixture.resumeSession(0, <String, Object?>{'restarted': true});
    expect(fixture.socket.dequeue()['method'], 'router.invoke');
    expect(one.isOver, false);
    await fixture.receive(_unreadable(null, seq: 2));
    fixture.clock.advance(1000);
    await fixture.resumeSession(0);
    expect(one.code, ErrorCode.parseError);
    await fixture.bridge.close();
  });

  test('a lost session forgets the error', () async {
    final fixture = await _numbered();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    await pumpEventQueue();
    await fixture.receive(_unreadable(null, seq: 1));
    fixture.clock.advance(0);
    final open = await fixture.acceptConnection();
    fixture.socket.receive(
      responseTo(open, <String, Object?>{
        ...sessionInfo(_resume),
        'resumed': false,
        'reason': 'unknown',
      }),
    );
    await pumpEventQueue();
    expect(one.code, ErrorCode.outcomeUnknown);
    fixture.observe(fixture.bridge.invoke('action://two'));
    await pumpEventQueue();
    await fixture.loseConnection();
    await fixture.resumeSession(0);
    expect(fixture.socket.dequeue()['method'], 'router.invoke');
    await fixture.bridge.close();
  });
}
