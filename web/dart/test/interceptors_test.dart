import 'dart:async';

import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/interceptors.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/transcript_matcher.dart';

Json _interceptRequest(String id, String name, int sum) {
  return <String, Object?>{
    'id': id,
    'method': 'router.intercept',
    'params': <String, Object?>{
      'name': name,
      'uri': 'action://pay',
      'params': <String, Object?>{'sum': sum},
      'exts': <String, Object?>{},
      'route': null,
      'caller': <String, Object?>{'session': 's'},
    },
  };
}

FutureOr<Interception?> _decide(InterceptedCall call) {
  final sum = call.params['sum'];
  if (sum == 1) {
    return Interception.change(<String, Object?>{...call.params, 'by': 'me'});
  }
  if (sum == 2) return Interception.redirect('action://ask');
  if (sum == 3) {
    return Interception.redirect(call.uri, params: <String, Object?>{'a': 1});
  }
  if (sum == 4) return Interception.refuse('not in ${call.caller['session']}');
  if (sum == 5) throw ApplicationException(7, 'seven');
  return sum == 6 ? Interception.next() : null;
}

Object? _response(FakeSocket socket) {
  final message = socket.dequeue();
  return message['error'] ?? message['result'];
}

void main() {
  test('an interceptor decides about calls', () async {
    final fixture = BridgeFixture();
    final intercepted = fixture.bridge.intercept(
      'limit',
      _decide,
      scheme: 'Action',
      patterns: <String>['/pay'],
      groups: <String>['money'],
      priority: 3,
      timeout: const Duration(seconds: 5),
    );
    final open = await fixture.openSession();
    final declared = <Object?>[
      <String, Object?>{
        'scheme': 'action',
        'patterns': <Object?>['/pay'],
        'kind': 'interceptor',
        'name': 'limit',
        'groups': <Object?>['money'],
        'priority': 3,
        'timeoutMs': 5000,
      },
    ];
    expect(difference(declared, objectOf(open['params'])['hosts']), null);
    final decisions = <Object?>[
      <String, Object?>{'decision': 'next'},
      <String, Object?>{
        'decision': 'change',
        'params': <String, Object?>{'sum': 1, 'by': 'me'},
      },
      <String, Object?>{'decision': 'redirect', 'uri': 'action://ask'},
      <String, Object?>{
        'decision': 'redirect',
        'uri': 'action://pay',
        'params': <String, Object?>{'a': 1},
      },
      <String, Object?>{'decision': 'refuse', 'reason': 'not in s'},
    ];
    for (int sum = 0; sum < decisions.length; sum += 1) {
      await fixture.receive(_interceptRequest('$sum', 'limit', sum));
      expect(difference(decisions[sum], _response(fixture.socket)), null);
    }
    await fixture.receive(_interceptRequest('e', 'limit', 5));
    expect(objectOf(_response(fixture.socket))['code'], 7);
    for (final name in <String>['limit', 'other']) {
      await fixture.receive(_interceptRequest(name, name, 6));
      expect(difference(decisions[0], _response(fixture.socket)), null);
    }
    int code = 0;
    try {
      fixture.bridge.intercept('limit', _decide, groups: <String>['a']);
    } on BridgeException catch (error) {
      code = error.code;
    }
    expect(code, ErrorCode.conflict);
    final cancelled = fixture.observeCompletion(intercepted.cancel());
    await pumpEventQueue();
    final unregister = fixture.socket.dequeue();
    expect(unregister['method'], 'host.unregister');
    expect(difference(declared, objectOf(unregister['params'])['hosts']), null);
    await fixture.receive(responseTo(unregister, <String, Object?>{}));
    expect(cancelled.isOver, true);
    await fixture.receive(_interceptRequest('late', 'limit', 4));
    expect(difference(decisions[0], _response(fixture.socket)), null);
    await fixture.bridge.close();
  });

  test('gates are listed, opened and closed', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final listed = fixture.bridge.gates();
    await pumpEventQueue();
    final list = fixture.socket.dequeue();
    expect(list['method'], 'session.gates');
    await fixture.receive(
      responseTo(list, <String, Object?>{
        'gates': <Object?>[
          <String, Object?>{'name': 'signedIn', 'open': true},
        ],
      }),
    );
    final gates = await listed;
    expect(gates.length, 1);
    expect(gates.first.name, 'signedIn');
    expect(gates.first.isOpen, true);
    final set = fixture.bridge.setGate('signedIn', open: false);
    await pumpEventQueue();
    final request = fixture.socket.dequeue();
    expect(request['method'], 'session.setGate');
    expect(
      difference(<String, Object?>{
        'gate': 'signedIn',
        'open': false,
      }, request['params']),
      null,
    );
    await fixture.receive(responseTo(request, null));
    await set;
    await fixture.bridge.close();
  });
}
