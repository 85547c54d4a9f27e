import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/encodable.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/stack_edit.dart';
import 'package:waybridge/src/uri_template.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/random_values.dart';
import 'support/transcript_matcher.dart';

final class _Money {
  const _Money(this.amount);

  final Object? amount;

  Object? toJson() => <String, Object?>{'amount': amount};
}

/// A string with half of an emoji.
final String half = '😀'.substring(0, 1);

/// Nested lists.
Object? nested(int levels) {
  Object? value = 1;
  for (int level = 0; level < levels; level += 1) {
    value = <Object?>[value];
  }
  return value;
}

/// The error of a value that is not JSON.
String problem(Object? value, [int levels = 128]) {
  try {
    encodable(value, <Object>['params'], levels);
    return '';
  } on FormatException catch (error) {
    return error.message;
  }
}

Json _task(String id, Object? what) {
  return <String, Object?>{
    'id': id,
    'method': 'task.run',
    'params': <String, Object?>{
      'uri': 'action://x',
      'params': <String, Object?>{'what': what},
      'host': <String, Object?>{'pattern': 'action://x', 'kind': 'task'},
    },
  };
}

void main() {
  test('the path of what is not JSON is named', () {
    final cycle = <String, Object?>{};
    cycle['a'] = cycle;
    final wrong = <String, Object?>{
      'params has half': 'x$half',
      'params.a has half': <String, Object?>{'a': half},
      'params.items[1].title has half': <String, Object?>{
        'items': <Object?>[
          1,
          <String, Object?>{'title': '${half}x'},
        ],
      },
      'a name in params.a has half': <String, Object?>{
        'a': <String, Object?>{half: 1},
      },
      'params.a.amount has half': <String, Object?>{'a': _Money(half)},
      'params[0] is NaN': <Object?>[0 / 0],
      'params is Infinity': 1 / 0,
      'params is a ': <int>{1},
      'params.a is a ': <String, Object?>{'a': const Duration(seconds: 1)},
      'params has the key 1,': <int, int>{1: 2},
      'params.a.a.a.a': cycle,
      'params[0][0][0]': nested(129),
    };
    for (final start in wrong.keys) {
      final found = problem(wrong[start]);
      expect(found.startsWith(start) ? start : found, start);
    }
    expect(problem(cycle).length < 400, true);
    expect(problem(nested(128)), '');
    expect(problem(const _Money('😀')), '');
    expect(problem(<Object?>[null, true, 1.5, '😀', '']), '');
  });

  test('texts are cut and repaired at code points', () {
    expect(shortened('a😀b', 2), 'a');
    expect(shortened('a😀b', 3), 'a😀');
    expect(shortened('a😀b', 9), 'a😀b');
    expect(repaired('a${half}b'), 'a\u{fffd}b');
    expect(repaired('a😀b'), 'a😀b');
    expect(hasHalfSurrogatePair('😀'.substring(1)), true);
    expect(hasHalfSurrogatePair('$half$half'), true);
    expect(hasHalfSurrogatePair('😀😀'), false);
  });

  test('integers are compared by value', () {
    expect(intOf(7), 7);
    expect(intOf(7.5), null);
    expect(intOf(1 / 0), null);
    expect(intOf('7'), null);
  });

  test('the client refuses what the server could not read', () async {
    final fixture = BridgeFixture(capabilities: const <String>['resume']);
    await fixture.openSession();
    final bridge = fixture.bridge;
    final wrong = <String, Object?>{'a': half};
    final key = CallOptions(key: half);
    final exts = CallOptions(exts: wrong);
    final calls = <ObservedFuture>[
      fixture.observe(bridge.invoke('action://x', params: wrong)),
      fixture.observe(bridge.invoke('action://x$half')),
      fixture.observe(bridge.invoke('action://x', options: key)),
      fixture.observe(bridge.open('native://x', options: exts)),
      fixture.observe(bridge.call('p1', half)),
      fixture.observe(bridge.finish(result: half)),
      fixture.observe(bridge.finish(message: half)),
      fixture.observe(bridge.back(to: half)),
      fixture.observe(bridge.editStack(remove: PageRange.page(half))),
      fixture.observe(bridge.adopt('native://$half')),
      fixture.observeCompletion(bridge.deliver('native://x', params: wrong)),
      fixture.observeCompletion(bridge.deliverAction(half)),
      fixture.observe(bridge.explain(half)),
      fixture.observe(bridge.request('x$half')),
      fixture.observe(bridge.admin.push(wrong, 'event')),
      fixture.observe(bridge.open('native://:a', params: wrong)),
      fixture.observeCompletion(
        bridge.subscribe(<String>[half], (Object? event) {}).registered,
      ),
    ];
    await pumpEventQueue();
    for (final call in calls) {
      expect(call.code, ErrorCode.invalidParams);
    }
    int code = 0;
    try {
      bridge.task('action://$half', (Json params, HostCall call) => 1);
    } on InvalidParametersException catch (error) {
      code = error.code;
    }
    expect(code, ErrorCode.invalidParams);
    expect(fixture.socket.sent.isEmpty, true);
    // The next message has the first number.
    fixture.observe(bridge.invoke('action://y'));
    await pumpEventQueue();
    expect(fixture.socket.dequeue()['seq'], 1);
    await bridge.close();
  });

  test("the server's maximum depth applies", () async {
    final fixture = BridgeFixture();
    await fixture.openSession(<String, Object?>{
      ...sessionInfo(),
      'limits': <String, Object?>{'maxDepth': 4},
    });
    final calls = <ObservedFuture>[];
    for (final levels in <int>[1, 2]) {
      final params = <String, Object?>{'a': nested(levels)};
      final uri = 'action://x';
      calls.add(fixture.observe(fixture.bridge.invoke(uri, params: params)));
    }
    await pumpEventQueue();
    expect(calls.first.isOver, false);
    expect(calls.last.code, ErrorCode.invalidParams);
    await fixture.bridge.close();
  });

  test('a host always sends a response that can be read', () async {
    final fixture = BridgeFixture();
    fixture.bridge.task('action://x', (Json params, HostCall call) {
      final what = params['what'];
      if (what == 'progress') call.progress(<Object?>[half]);
      if (what == 'result') return <Object?>[half];
      if (what == 'deep') return nested(128);
      if (what == 'error') {
        throw ApplicationException(7, 'no $half', data: <Object?>[half]);
      }
      if (what == 'long') {
        throw ApplicationException(7, ''.padLeft(2000000, 'x'));
      }
      return nested(127);
    });
    await fixture.openSession();
    Json response = <String, Object?>{};
    Future<Json> run(String what) async {
      await fixture.receive(_task(what, what));
      response = fixture.socket.dequeue();
      expect(response['id'], what);
      return objectOf(response['error']);
    }

    expect((await run('progress')).isEmpty, true);
    final reported = fixture.errors.last.message;
    expect(reported.contains('value[0] has half'), true);
    final refused = await run('result');
    expect(refused['code'], ErrorCode.internal);
    expect('${refused['message']}'.contains('result[0] has half'), true);
    expect((await run('deep'))['code'], ErrorCode.internal);
    final repairedError = await run('error');
    expect(repairedError['message'], 'no \u{fffd}');
    expect(repairedError['data'], null);
    expect('${(await run('long'))['message']}'.length, 1000);
    expect((await run('other')).isEmpty, true);
    expect(fixture.errors.length, 1);
    await fixture.bridge.close();
  });

  test('parameters of a URI are checked', () {
    for (final each in <Object?>[half, 0 / 0]) {
      String message = '';
      try {
        expandTemplate('native://a/:id', <String, Object?>{'id': each});
      } on InvalidParametersException catch (error) {
        message = error.message;
      }
      expect(message.startsWith('params.id '), true);
    }
  });

  test('whatever is sent can be read', () async {
    final fixture = BridgeFixture();
    final random = RandomValues(7);
    Object? current;
    fixture.bridge.task('action://x', (Json params, HostCall call) {
      call.progress(current);
      if (random.below(4) == 0) {
        throw ApplicationException(7, random.text(), data: current);
      }
      return current;
    });
    await fixture.openSession();
    int refused = 0;
    for (int count = 0; count < 200; count += 1) {
      current = random.value(5);
      final params = <String, Object?>{random.text(): current};
      final call = fixture.observe(
        fixture.bridge.invoke('action://y', params: params),
      );
      await fixture.receive(_task('$count', null));
      for (final message in fixture.socket.sent) {
        if (message['method'] != 'router.invoke') continue;
        final sent = objectOf(message['params'])['params'];
        expect(difference(random.plain(params), sent), null);
      }
      expect(fixture.socket.unreadable.isEmpty, true);
      expect(fixture.socket.sent.last['id'], '$count');
      if (call.isOver) {
        refused += 1;
        expect(call.code, ErrorCode.invalidParams);
      }
      fixture.socket.sent.clear();
    }
    expect(refused > 20 && refused < 180, true);
    await fixture.bridge.close();
  });
}
