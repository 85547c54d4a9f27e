import 'package:test/test.dart';
import 'package:waybridge/src/cancellation.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/fill.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/values.dart';

import 'support/fake_socket.dart';
import 'support/matching.dart';
import 'support/scene.dart';

void main() {
  test('calls wait for the session, and go out in their order', () async {
    final scene = Scene();
    final one = scene.watch(scene.bridge.invoke('action://one'));
    final two = scene.watch(
      scene.bridge.open(
        'native://address/:id',
        params: <String, Object?>{'id': 'a/2', 'pick': true},
        options: const CallOptions(
          style: PageStyle.present,
          timeout: Duration(seconds: 5),
        ),
      ),
    );
    await scene.opened();
    final first = scene.socket.take();
    final second = scene.socket.take();
    expect(objectOf(first['params'])['uri'], 'action://one');
    expect(
      difference(<String, Object?>{
        'uri': 'native://address/a%2F2',
        'params': <String, Object?>{'pick': true},
        'style': 'present',
        'deadlineMs': 5000,
      }, second['params']),
      null,
    );
    await scene.comes(answerTo(first, 7));
    const dismissed = Outcome('dismissed', 0, '', null);
    await scene.comes(answerTo(second, dismissed.toJson()));
    expect(one.result, 7);
    final outcome = two.result;
    expect(outcome is Outcome && outcome.outcome == 'dismissed', true);
    await scene.bridge.close();
  });

  test('a call that waits is cancelled without a word', () async {
    final scene = Scene();
    final cancellation = Cancellation();
    final call = scene.watch(
      scene.bridge.invoke(
        'action://x',
        options: CallOptions(cancellation: cancellation),
      ),
    );
    cancellation.cancel();
    await pumpEventQueue();
    expect(call.code, ErrorCode.cancelled);
    await scene.opened();
    expect(scene.socket.sent.isEmpty, true);
    await scene.bridge.close();
  });

  test('a call that was sent is cancelled at the server', () async {
    final scene = Scene();
    await scene.opened();
    final cancellation = Cancellation();
    final call = scene.watch(
      scene.bridge.invoke(
        'action://x',
        options: CallOptions(cancellation: cancellation),
      ),
    );
    await pumpEventQueue();
    final sent = scene.socket.take();
    cancellation.cancel();
    expect(objectOf(scene.socket.take()['params'])['id'], sent['id']);
    await pumpEventQueue();
    expect(call.isOver, false);
    await scene.comes(<String, Object?>{
      'id': sent['id'],
      'error': <String, Object?>{'code': -32800, 'message': 'cancelled'},
    });
    expect(call.error is Cancelled, true);
    await scene.bridge.close();
  });

  test('a late call is given up a second after its time', () async {
    final scene = Scene();
    await scene.opened();
    final call = scene.watch(
      scene.bridge.invoke(
        'action://x',
        options: const CallOptions(timeout: Duration(milliseconds: 100)),
      ),
    );
    await pumpEventQueue();
    scene.clock.advance(1099);
    await pumpEventQueue();
    expect(call.isOver, false);
    scene.clock.advance(1);
    await pumpEventQueue();
    expect(call.code, ErrorCode.deadline);
    expect(scene.socket.take()['method'], 'router.invoke');
    expect(scene.socket.take()['method'], r'$/cancelRequest');
    await scene.bridge.close();
  });

  test('a page that is shown has no deadline any more', () async {
    final scene = Scene();
    await scene.opened();
    final heard = <Object?>[];
    final call = scene.watch(
      scene.bridge.open(
        'native://x',
        options: CallOptions(
          timeout: const Duration(milliseconds: 100),
          onProgress: (Object? value) => heard.add(value),
        ),
      ),
    );
    await pumpEventQueue();
    final sent = scene.socket.take();
    final shown = <String, Object?>{
      'opened': <String, Object?>{'page': 'p1'},
    };
    await scene.comes(<String, Object?>{
      'method': r'$/progress',
      'params': <String, Object?>{'id': sent['id'], 'value': shown},
    });
    scene.clock.advance(60000);
    await pumpEventQueue();
    expect(call.isOver, false);
    expect(difference(<Object?>[shown], heard), null);
    await scene.bridge.close();
    await pumpEventQueue();
    expect(call.code, ErrorCode.outcomeUnknown);
  });

  test('only so many calls wait for a connection', () async {
    final scene = Scene(queueCount: 1);
    final one = scene.watch(scene.bridge.invoke('action://one'));
    final two = scene.watch(scene.bridge.invoke('action://two'));
    await pumpEventQueue();
    expect(one.isOver, false);
    expect(two.code, ErrorCode.tooMany);
    await scene.bridge.close();
    await pumpEventQueue();
    expect(one.code, ErrorCode.unavailable);
  });

  test('what is no JSON, or too large, is refused here', () async {
    final scene = Scene();
    await scene.opened();
    final wrong = scene.watch(
      scene.bridge.invoke(
        'action://x',
        params: <String, Object?>{'a': scene},
      ),
    );
    final large = scene.watch(
      scene.bridge.invoke(
        'action://x',
        params: <String, Object?>{'a': 'x'.padLeft(1048576, 'x')},
      ),
    );
    await pumpEventQueue();
    expect(wrong.code, ErrorCode.invalidParams);
    expect(large.code, ErrorCode.tooLarge);
    expect(scene.socket.sent.isEmpty, true);
    await scene.bridge.close();
  });

  test('parameters take the places of their names in a URI', () {
    String uri(String pattern, Json params) => fill(pattern, params).uri;
    final two = <String, Object?>{'id': 2, 'x': 'ä b'};
    expect(uri('native://a/:id?q=:id', two), 'native://a/2?q=:id');
    expect(uri('native://:x/:id', two), 'native://%C3%A4%20b/2');
    expect(uri('native:7', two), 'native:7');
    final many = <String, Object?>{
      '*': <Object?>['a', 'b/c', ''],
    };
    expect(uri('files://box/*', many), 'files://box/a/b%2Fc/');
    expect(
      uri('files://box/*', <String, Object?>{'*': 'a/b'}),
      'files://box/a/b',
    );
    for (final each in <Object?>['', '.', '..', null, <Object?>[]]) {
      int code = 0;
      try {
        fill('native://a/:id', <String, Object?>{'id': each});
      } on BridgeError catch (error) {
        code = error.code;
      }
      expect(code, ErrorCode.invalidParams);
    }
  });
}
