import 'dart:async';

import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/invitation.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/page_host.dart';
import 'package:waybridge/src/values.dart';

import 'support/fake_socket.dart';
import 'support/matching.dart';
import 'support/scene.dart';

final class _Pages extends PageHost {
  _Pages();

  final List<String> log = <String>[];
  Completer<void>? opening;

  @override
  Future<void> open(BridgePage page, HostCall call) async {
    log.add('open ${page.id} ${call.isRestored}');
    final wait = opening;
    if (wait != null) await wait.future;
    if (page.uri == 'flutter://none') throw Declined();
  }

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {
    log.add('close ${page.id} $reason');
  }
}

Json _opening(String id, String page, [String uri = 'flutter://x']) {
  return <String, Object?>{
    'id': id,
    'method': 'page.open',
    'params': <String, Object?>{
      'page': <String, Object?>{'id': page, 'uri': uri},
      'host': <String, Object?>{'scheme': 'flutter', 'kind': 'page'},
    },
  };
}

Json _running(String id, [Json? params]) {
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

Object? _answer(FakeSocket socket) {
  final message = socket.take();
  return message['error'] ?? message['result'];
}

void main() {
  test('hosts are told as the session opens, and later ones then', () async {
    final scene = Scene();
    final host = _Pages();
    scene.bridge.host('flutter', host);
    final hello = await scene.opened();
    expect(
      difference(<Object?>[
        <String, Object?>{'scheme': 'flutter', 'kind': 'page'},
      ], objectOf(hello['params'])['hosts']),
      null,
    );
    final task = scene.bridge.task(
      'action://x',
      (Json params, HostCall call) => 1,
    );
    await pumpEventQueue();
    final register = scene.socket.take();
    expect(register['method'], 'host.register');
    await scene.comes(answerTo(register, <String, Object?>{}));
    final gone = scene.watchEnd(task.cancel());
    await pumpEventQueue();
    final unregister = scene.socket.take();
    expect(unregister['method'], 'host.unregister');
    await scene.comes(answerTo(unregister, <String, Object?>{}));
    expect(gone.isOver, true);
    await scene.bridge.close();
  });

  test('pages are opened, declined and closed', () async {
    final scene = Scene();
    final host = _Pages();
    scene.bridge.host('flutter', host);
    await scene.opened();
    await scene.comes(_opening('a', 'p1'));
    expect(_answer(scene.socket), null);
    await scene.comes(_opening('b', 'p2', 'flutter://none'));
    final refused = objectOf(_answer(scene.socket));
    expect(refused['code'], ErrorCode.noRoute);
    expect(objectOf(refused['data'])['kind'], 'declined');
    await scene.comes(<String, Object?>{
      'id': 'c',
      'method': 'page.close',
      'params': <String, Object?>{'page': 'p1', 'reason': 'finished'},
    });
    expect(_answer(scene.socket), null);
    expect(
      difference(<Object?>[
        'open p1 false',
        'open p2 false',
        'close p1 finished',
      ], host.log),
      null,
    );
    await scene.bridge.close();
  });

  test('a page that nobody wants any more is taken away', () async {
    final scene = Scene();
    final host = _Pages();
    final opening = Completer<void>();
    host.opening = opening;
    scene.bridge.host('flutter', host);
    await scene.opened();
    await scene.comes(_opening('a', 'p1'));
    await scene.comes(<String, Object?>{
      'method': r'$/cancelRequest',
      'params': <String, Object?>{'id': 'a'},
    });
    opening.complete();
    await pumpEventQueue();
    expect(objectOf(_answer(scene.socket))['code'], ErrorCode.cancelled);
    expect(host.log.last, 'close p1 cancelled');
    await scene.bridge.close();
  });

  test('errors of tasks reach the caller as they are meant', () async {
    final scene = Scene();
    scene.bridge.task('action://x', (Json params, HostCall call) {
      if (params['a'] == 1) throw ApplicationError(7, 'seven');
      if (params['a'] == 2) throw StateError('no');
      call.progress('half');
      return params['a'];
    });
    await scene.opened();
    await scene.comes(_running('1', <String, Object?>{'a': 1}));
    expect(objectOf(_answer(scene.socket))['code'], 7);
    await scene.comes(_running('2', <String, Object?>{'a': 2}));
    expect(objectOf(_answer(scene.socket))['code'], ErrorCode.hostFailed);
    await scene.comes(_running('3', <String, Object?>{'a': 3}));
    expect(scene.socket.take()['method'], r'$/progress');
    expect(_answer(scene.socket), 3);
    await scene.comes(<String, Object?>{'id': '4', 'method': 'no.such'});
    expect(objectOf(_answer(scene.socket))['code'], ErrorCode.methodNotFound);
    await scene.bridge.close();
  });

  test('what a task calls for its caller says so', () async {
    final scene = Scene();
    scene.bridge.task(
      'action://x',
      (Json params, HostCall call) => call.invoke('action://y'),
    );
    await scene.opened();
    await scene.comes(_running('own'));
    final called = scene.socket.take();
    expect(objectOf(called['params'])['onBehalfOf'], 'own');
    await scene.comes(answerTo(called, 5));
    expect(_answer(scene.socket), 5);
    await scene.bridge.close();
  });

  test('after a restart of the server the pages are compared', () async {
    final scene = Scene(capabilities: const <String>['resume']);
    final host = _Pages();
    scene.bridge.host('flutter', host);
    await scene.opened();
    await scene.comes(<String, Object?>{..._opening('a', 'p1'), 'seq': 1});
    await scene.comes(<String, Object?>{..._opening('b', 'p2'), 'seq': 2});
    await scene.lose();
    await scene.resumed(2, <String, Object?>{'restarted': true});
    final ping = scene.socket.take();
    expect(ping['method'], r'$/ping');
    await scene.comes(answerTo(ping, null));
    final sync = scene.socket.take();
    expect(sync['method'], 'page.sync');
    final missing = _opening('', 'p3');
    final picture = <String, Object?>{
      'open': <Object?>[missing['params']],
      'closed': <Object?>['p1'],
    };
    await scene.comes(<String, Object?>{...answerTo(sync, picture), 'seq': 3});
    expect(host.log.contains('close p1 failed'), true);
    expect(host.log.last, 'open p3 true');
    expect(scene.changes.last.isRestarted, true);
    await scene.bridge.close();
    await pumpEventQueue();
    expect(host.log.contains('close p2 failed'), true);
  });

  test('topics are asked for once, and again of another session', () async {
    final scene = Scene();
    final heard = <Object?>[];
    scene.bridge.subscribe(<String>['cart.*'], (BridgeEvent event) {
      heard.add(event.data);
    });
    final stream = scene.bridge.events(<String>['cart.*']);
    final listening = stream.listen((BridgeEvent event) => heard.add(event.at));
    await scene.opened();
    final asked = scene.socket.take();
    expect(asked['method'], 'events.subscribe');
    expect(scene.socket.sent.isEmpty, true);
    await scene.comes(answerTo(asked, <String, Object?>{}));
    await scene.comes(<String, Object?>{
      'method': 'event',
      'params': <String, Object?>{'topic': 'cart.changed', 'data': 2, 'at': 3},
    });
    expect(difference(<Object?>[2, 3], heard), null);
    await listening.cancel();
    await scene.lose(4100);
    await scene.opened();
    final again = objectOf(scene.socket.take()['params']);
    expect(difference(<Object?>['cart.*'], again['topics']), null);
    await scene.bridge.close();
  });

  test('an invitation stands in the fragment of an address', () async {
    final scene = Scene();
    await scene.opened();
    final page = Uri.parse('https://shop.example/tea.html#a=1');
    final invited = scene.watch(scene.bridge.invite(page, page: 'p1'));
    await pumpEventQueue();
    final told = <String, Object?>{'session': 's', 'token': 't'};
    await scene.comes(answerTo(scene.socket.take(), told));
    final address = invited.result;
    if (address is! Uri) throw StateError('no address');
    expect(address.fragment.startsWith('a=1&waybridge='), true);
    final read = Invitation.inAddress(address);
    expect(read?.url, 'ws://127.0.0.1:1/bridge');
    expect(read?.token, 't');
    expect(read?.frame, 'p1');
    expect(Invitation.inAddress(page) == null, true);
    await scene.bridge.close();
  });

  test('names of the protocol are no methods of a client', () async {
    final scene = Scene();
    int code = 0;
    try {
      scene.bridge.method('page.mine', (Json params, HostCall call) => 1);
    } on InvalidParameters catch (error) {
      code = error.code;
    }
    expect(code, ErrorCode.invalidParams);
    await scene.bridge.close();
  });
}
