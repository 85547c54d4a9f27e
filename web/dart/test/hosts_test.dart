import 'dart:async';

import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/invitation.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/page_host.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/transcript_matcher.dart';

final class _Pages extends PageHost {
  _Pages();

  final List<String> log = <String>[];
  Completer<void>? opening;

  @override
  Future<void> open(BridgePage page, HostCall call) async {
    log.add('open ${page.id} ${call.isRestored}');
    final wait = opening;
    if (wait != null) await wait.future;
    if (page.uri == 'flutter://none') throw DeclinedException();
  }

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {
    log.add('close ${page.id} $reason');
  }
}

Json _openRequest(String id, String page, [String uri = 'flutter://x']) {
  return <String, Object?>{
    'id': id,
    'method': 'page.open',
    'params': <String, Object?>{
      'page': <String, Object?>{'id': page, 'uri': uri},
      'host': <String, Object?>{'scheme': 'flutter', 'kind': 'page'},
    },
  };
}

Json _runRequest(String id, [Json? params]) {
  return <String, Object?>{
    'id': id,
    'method': 'task.run',
    'params': <String, Object?>{
      'uri': 'action://x',
      'params': params ?? <String, Object?>{},
      'host': <String, Object?>{'pattern': 'action://x', 'kind': 'task'},
    },
  };
}

Json _leaveRequest(String id, String page, Json? to) {
  return <String, Object?>{
    'id': id,
    'method': 'page.leave',
    'params': <String, Object?>{
      'page': page,
      'reason': 'dismissed',
      'to': to,
    },
  };
}

Object? _response(FakeSocket socket) {
  final message = socket.dequeue();
  return message['error'] ?? message['result'];
}

void main() {
  test('hosts are registered with the session, and later', () async {
    final fixture = BridgeFixture();
    final host = _Pages();
    fixture.bridge.host('flutter', host);
    final open = await fixture.openSession();
    expect(
      difference(<Object?>[
        <String, Object?>{'scheme': 'flutter', 'kind': 'page'},
      ], objectOf(open['params'])['hosts']),
      null,
    );
    final task = fixture.bridge.task(
      'action://x',
      (Json params, HostCall call) => 1,
    );
    await pumpEventQueue();
    final register = fixture.socket.dequeue();
    expect(register['method'], 'host.register');
    await fixture.receive(responseTo(register, <String, Object?>{}));
    final cancelled = fixture.observeCompletion(task.cancel());
    await pumpEventQueue();
    final unregister = fixture.socket.dequeue();
    expect(unregister['method'], 'host.unregister');
    await fixture.receive(responseTo(unregister, <String, Object?>{}));
    expect(cancelled.isOver, true);
    await fixture.bridge.close();
  });

  test('pages are opened, declined and closed', () async {
    final fixture = BridgeFixture();
    final host = _Pages();
    fixture.bridge.host('flutter', host);
    await fixture.openSession();
    await fixture.receive(_openRequest('a', 'p1'));
    expect(_response(fixture.socket), null);
    await fixture.receive(_openRequest('b', 'p2', 'flutter://none'));
    final refused = objectOf(_response(fixture.socket));
    expect(refused['code'], ErrorCode.noRoute);
    expect(objectOf(refused['data'])['kind'], 'declined');
    await fixture.receive(<String, Object?>{
      'id': 'c',
      'method': 'page.close',
      'params': <String, Object?>{'page': 'p1', 'reason': 'finished'},
    });
    expect(_response(fixture.socket), null);
    expect(
      difference(<Object?>[
        'open p1 false',
        'open p2 false',
        'close p1 finished',
      ], host.log),
      null,
    );
    await fixture.bridge.close();
  });

  test('a page that is cancelled while it opens is closed', () async {
    final fixture = BridgeFixture();
    final host = _Pages();
    final opening = Completer<void>();
    host.opening = opening;
    fixture.bridge.host('flutter', host);
    await fixture.openSession();
    await fixture.receive(_openRequest('a', 'p1'));
    await fixture.receive(<String, Object?>{
      'method': r'$/cancelRequest',
      'params': <String, Object?>{'id': 'a'},
    });
    opening.complete();
    await pumpEventQueue();
    expect(objectOf(_response(fixture.socket))['code'], ErrorCode.cancelled);
    expect(host.log.last, 'close p1 cancelled');
    await fixture.bridge.close();
  });

  test('errors of tasks reach the caller', () async {
    final fixture = BridgeFixture();
    fixture.bridge.task('action://x', (Json params, HostCall call) {
      if (params['a'] == 1) throw ApplicationException(7, 'seven');
      if (params['a'] == 2) throw StateError('no');
      call.progress('half');
      return params['a'];
    });
    await fixture.openSession();
    await fixture.receive(_runRequest('1', <String, Object?>{'a': 1}));
    expect(objectOf(_response(fixture.socket))['code'], 7);
    await fixture.receive(_runRequest('2', <String, Object?>{'a': 2}));
    expect(objectOf(_response(fixture.socket))['code'], ErrorCode.hostFailed);
    await fixture.receive(_runRequest('3', <String, Object?>{'a': 3}));
    expect(fixture.socket.dequeue()['method'], r'$/progress');
    expect(_response(fixture.socket), 3);
    await fixture.receive(<String, Object?>{'id': '4', 'method': 'no.such'});
    final unknown = objectOf(_response(fixture.socket));
    expect(unknown['code'], ErrorCode.methodNotFound);
    await fixture.bridge.close();
  });

  test('a guard decides whether its page closes', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final set = fixture.bridge.setGuard(
      (Leave leave) => leave.to == null ? null : 'unsaved',
      page: 'p1',
    );
    await fixture.receive(<String, Object?>{'method': 'none'});
    final request = fixture.socket.dequeue();
    expect(objectOf(request['params']), <String, Object?>{
      'page': 'p1',
      'enabled': true,
    });
    await fixture.receive(responseTo(request, null));
    await set;
    final denied = <String, Object?>{'page': 'p0', 'uri': 'native://m'};
    await fixture.receive(_leaveRequest('1', 'p1', denied));
    expect(_response(fixture.socket), <String, Object?>{
      'allow': false,
      'reason': 'unsaved',
    });
    await fixture.receive(_leaveRequest('2', 'p1', null));
    expect(_response(fixture.socket), <String, Object?>{'allow': true});
    await fixture.receive(_leaveRequest('3', 'p2', denied));
    expect(_response(fixture.socket), <String, Object?>{'allow': true});
    await fixture.bridge.close();
  });

  test('calls of a task name the request of its caller', () async {
    final fixture = BridgeFixture();
    fixture.bridge.task(
      'action://x',
      (Json params, HostCall call) => call.invoke('action://y'),
    );
    await fixture.openSession();
    await fixture.receive(_runRequest('own'));
    final called = fixture.socket.dequeue();
    expect(objectOf(called['params'])['onBehalfOf'], 'own');
    await fixture.receive(responseTo(called, 5));
    expect(_response(fixture.socket), 5);
    await fixture.bridge.close();
  });

  test('after a restart of the server the pages are compared', () async {
    final fixture = BridgeFixture(capabilities: const <String>['resume']);
    final host = _Pages();
    fixture.bridge.host('flutter', host);
    await fixture.openSession();
    await fixture.receive(<String, Object?>{
      ..._openRequest('a', 'p1'),
      'seq': 1,
    });
    await fixture.receive(<String, Object?>{
      ..._openRequest('b', 'p2'),
      'seq': 2,
    });
    await fixture.loseConnection();
    await fixture.resumeSession(2, <String, Object?>{'restarted': true});
    final ping = fixture.socket.dequeue();
    expect(ping['method'], r'$/ping');
    await fixture.receive(responseTo(ping, null));
    final sync = fixture.socket.dequeue();
    expect(sync['method'], 'page.sync');
    final missing = _openRequest('', 'p3');
    final picture = <String, Object?>{
      'open': <Object?>[missing['params']],
      'closed': <Object?>['p1'],
    };
    await fixture.receive(<String, Object?>{
      ...responseTo(sync, picture),
      'seq': 3,
    });
    expect(host.log.contains('close p1 failed'), true);
    expect(host.log.last, 'open p3 true');
    expect(fixture.changes.last.isRestarted, true);
    await fixture.bridge.close();
    await pumpEventQueue();
    expect(host.log.contains('close p2 failed'), true);
  });

  test('an invitation is in the fragment of an address', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final page = Uri.parse('https://shop.example/tea.html#a=1');
    final invited = fixture.observe(fixture.bridge.invite(page, page: 'p1'));
    await pumpEventQueue();
    final result = <String, Object?>{'session': 's', 'token': 't'};
    await fixture.receive(responseTo(fixture.socket.dequeue(), result));
    final address = invited.result;
    if (address is! Uri) throw StateError('no address');
    expect(address.fragment.startsWith('a=1&waybridge='), true);
    final read = Invitation.inAddress(address);
    expect(read?.url, 'ws://127.0.0.1:1/bridge');
    expect(read?.token, 't');
    expect(read?.frame, 'p1');
    expect(Invitation.inAddress(page) == null, true);
    await fixture.bridge.close();
  });

  test('methods cannot have names of the protocol', () async {
    final fixture = BridgeFixture();
    int code = 0;
    try {
      fixture.bridge.method('page.mine', (Json params, HostCall call) => 1);
    } on InvalidParametersException catch (error) {
      code = error.code;
    }
    expect(code, ErrorCode.invalidParams);
    await fixture.bridge.close();
  });
}
