import 'package:test/test.dart';
import 'package:waybridge/src/cancellation.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/stack_edit.dart';
import 'package:waybridge/src/uri_template.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/transcript_matcher.dart';

void main() {
  test('an edit of the stack is one request', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final edit = fixture.bridge.editStack(
      remove: PageRange.from('p2', through: 'native://pay'),
      open: const <AddedPage>[
        AddedPage('native://order/7', style: PageStyle.present),
      ],
      key: 'edit-7',
    );
    final sent = fixture.socket.dequeue();
    expect(sent['method'], 'navigation.edit');
    expect(
      difference(<String, Object?>{
        'remove': <String, Object?>{'from': 'p2', 'through': 'native://pay'},
        'open': <Object?>[
          <String, Object?>{'uri': 'native://order/7', 'style': 'present'},
        ],
        'key': 'edit-7',
      }, sent['params']),
      null,
    );
    await fixture.receive(
      responseTo(sent, <String, Object?>{
        'page': 'p4',
        'closed': <String>['p3', 'p2'],
        'opened': <String>['p4'],
      }),
    );
    final change = await edit;
    expect(difference(<Object?>['p4'], change.opened), null);
  });

  test('calls wait for the session, and are sent in order', () async {
    final fixture = BridgeFixture();
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    final two = fixture.observe(
      fixture.bridge.open(
        'native://address/:id',
        params: <String, Object?>{'id': 'a/2', 'pick': true},
        options: const CallOptions(
          style: PageStyle.present,
          timeout: Duration(seconds: 5),
        ),
      ),
    );
    await fixture.openSession();
    final first = fixture.socket.dequeue();
    final second = fixture.socket.dequeue();
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
    await fixture.receive(responseTo(first, 7));
    const dismissed = Outcome('dismissed', 0, '', null);
    await fixture.receive(responseTo(second, dismissed.toJson()));
    expect(one.result, 7);
    final outcome = two.result;
    expect(outcome is Outcome && outcome.outcome == 'dismissed', true);
    await fixture.bridge.close();
  });

  test('a waiting call is cancelled without a message', () async {
    final fixture = BridgeFixture();
    final cancellation = Cancellation();
    final call = fixture.observe(
      fixture.bridge.invoke(
        'action://x',
        options: CallOptions(cancellation: cancellation),
      ),
    );
    cancellation.cancel();
    await pumpEventQueue();
    expect(call.code, ErrorCode.cancelled);
    await fixture.openSession();
    expect(fixture.socket.sent.isEmpty, true);
    await fixture.bridge.close();
  });

  test('a sent call is cancelled on the server', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final cancellation = Cancellation();
    final call = fixture.observe(
      fixture.bridge.invoke(
        'action://x',
        options: CallOptions(cancellation: cancellation),
      ),
    );
    await pumpEventQueue();
    final sent = fixture.socket.dequeue();
    cancellation.cancel();
    expect(objectOf(fixture.socket.dequeue()['params'])['id'], sent['id']);
    await pumpEventQueue();
    expect(call.isOver, false);
    await fixture.receive(<String, Object?>{
      'id': sent['id'],
      'error': <String, Object?>{'code': -32800, 'message': 'cancelled'},
    });
    expect(call.error is CancelledException, true);
    await fixture.bridge.close();
  });

  test('a call times out a second after its deadline', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final call = fixture.observe(
      fixture.bridge.invoke(
        'action://x',
        options: const CallOptions(timeout: Duration(milliseconds: 100)),
      ),
    );
    await pumpEventQueue();
    fixture.clock.advance(1099);
    await pumpEventQueue();
    expect(call.isOver, false);
    fixture.clock.advance(1);
    await pumpEventQueue();
    expect(call.code, ErrorCode.deadline);
    expect(fixture.socket.dequeue()['method'], 'router.invoke');
    expect(fixture.socket.dequeue()['method'], r'$/cancelRequest');
    await fixture.bridge.close();
  });

  test('a shown page no longer has a deadline', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final received = <Object?>[];
    final call = fixture.observe(
      fixture.bridge.open(
        'native://x',
        options: CallOptions(
          timeout: const Duration(milliseconds: 100),
          onProgress: (Object? value) => received.add(value),
        ),
      ),
    );
    await pumpEventQueue();
    final sent = fixture.socket.dequeue();
    final shown = <String, Object?>{
      'opened': <String, Object?>{'page': 'p1'},
    };
    await fixture.receive(<String, Object?>{
      'method': r'$/progress',
      'params': <String, Object?>{'id': sent['id'], 'value': shown},
    });
    fixture.clock.advance(60000);
    await pumpEventQueue();
    expect(call.isOver, false);
    expect(difference(<Object?>[shown], received), null);
    await fixture.bridge.close();
    await pumpEventQueue();
    expect(call.code, ErrorCode.outcomeUnknown);
  });

  test('the number of waiting calls is limited', () async {
    final fixture = BridgeFixture(queueCount: 1);
    final one = fixture.observe(fixture.bridge.invoke('action://one'));
    final two = fixture.observe(fixture.bridge.invoke('action://two'));
    await pumpEventQueue();
    expect(one.isOver, false);
    expect(two.code, ErrorCode.tooMany);
    await fixture.bridge.close();
    await pumpEventQueue();
    expect(one.code, ErrorCode.unavailable);
  });

  test('the client rejects calls that are not JSON or too large', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final wrong = fixture.observe(
      fixture.bridge.invoke(
        'action://x',
        params: <String, Object?>{'a': fixture},
      ),
    );
    final large = fixture.observe(
      fixture.bridge.invoke(
        'action://x',
        params: <String, Object?>{'a': 'x'.padLeft(1048576, 'x')},
      ),
    );
    await pumpEventQueue();
    expect(wrong.code, ErrorCode.invalidParams);
    expect(large.code, ErrorCode.tooLarge);
    expect(fixture.socket.sent.isEmpty, true);
    await fixture.bridge.close();
  });

  test('parameters replace their names in a URI', () {
    String uri(String pattern, Json params) {
      return expandTemplate(pattern, params).uri;
    }

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
        expandTemplate('native://a/:id', <String, Object?>{'id': each});
      } on BridgeException catch (error) {
        code = error.code;
      }
      expect(code, ErrorCode.invalidParams);
    }
    try {
      expandTemplate('', null);
      expect(true, false);
    } on BridgeException catch (error) {
      expect(error.message.startsWith('The URI is empty'), true);
    }
  });
}
