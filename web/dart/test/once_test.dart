import 'dart:async';

import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/host_key.dart';
import 'package:waybridge/src/idempotency_results.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/page_host.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/manual_clock.dart';
import 'support/transcript_matcher.dart';

final class _Pages extends PageHost {
  _Pages(this._methods);

  final Map<String, MethodHandler> _methods;

  @override
  Map<String, MethodHandler> get methods => _methods;

  @override
  Future<void> open(BridgePage page, HostCall call) async {}

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {}
}

Json _task(String id, {String? key, Json? caller, int? seq}) {
  return <String, Object?>{
    'id': id,
    'method': 'task.run',
    'params': withoutNulls(<String, Object?>{
      'uri': 'action://pay',
      'host': <String, Object?>{'pattern': 'action://pay', 'kind': 'task'},
      'key': key,
      'caller': caller,
    }),
    if (seq != null) 'seq': seq,
  };
}

Json _guest(String session, String client, [String? page]) {
  return <String, Object?>{
    'session': session,
    'guest': true,
    'client': withoutNulls(<String, Object?>{'id': client, 'page': page}),
  };
}

void main() {
  test('work with a key runs once', () async {
    final fixture = BridgeFixture();
    final work = Completer<Object?>();
    final keys = <String?>[];
    int runs = 0;
    fixture.bridge.task('action://pay', (Json params, HostCall call) {
      keys.add(call.key);
      return call.once(() async {
        runs += 1;
        final receipt = await work.future;
        return <String, Object?>{'receipt': receipt, 'run': runs};
      });
    });
    await fixture.openSession();
    await fixture.receive(_task('1', key: 'k'));
    await fixture.receive(_task('2', key: 'k'));
    expect(runs, 1);
    work.complete('r');
    await pumpEventQueue();
    await fixture.receive(_task('3', key: 'k'));
    for (final id in <String>['1', '2', '3']) {
      final response = fixture.socket.dequeue();
      expect(response['id'], id);
      final result = <String, Object?>{'receipt': 'r', 'run': 1};
      expect(difference(result, response['result']), null);
    }
    await fixture.receive(_task('4', key: 'l'));
    await fixture.receive(_task('5'));
    await fixture.receive(_task('6'));
    expect(runs, 4);
    final all = <String?>['k', 'k', 'k', 'l', null, null];
    expect(difference(all, keys), null);
    await fixture.bridge.close();
  });

  test('a failure is the result of its key', () async {
    final fixture = BridgeFixture();
    int runs = 0;
    fixture.bridge.task('action://pay', (Json params, HostCall call) {
      return call.once(() {
        runs += 1;
        throw ApplicationException(7, 'run $runs');
      });
    });
    await fixture.openSession();
    for (final id in <String>['1', '2']) {
      await fixture.receive(_task(id, key: 'k'));
      final error = objectOf(fixture.socket.dequeue()['error']);
      expect(error['code'], 7);
      expect(error['message'], 'run 1');
    }
    await fixture.bridge.close();
  });

  test('the key of a method of a page', () async {
    final fixture = BridgeFixture();
    int runs = 0;
    Future<Object?> pay(Json params, HostCall call) {
      return call.once(() => runs += 1);
    }

    final host = _Pages(<String, MethodHandler>{'pay': pay});
    fixture.bridge.host('flutter', host);
    await fixture.openSession();
    await fixture.receive(<String, Object?>{
      'id': 'open',
      'method': 'page.open',
      'params': <String, Object?>{
        'page': <String, Object?>{'id': 'p1', 'uri': 'flutter://x'},
        'host': <String, Object?>{'scheme': 'flutter', 'kind': 'page'},
      },
    });
    fixture.socket.dequeue();
    for (final id in <String>['1', '2']) {
      await fixture.receive(<String, Object?>{
        'id': id,
        'method': 'page.call',
        'params': <String, Object?>{'page': 'p1', 'method': 'pay', 'key': 'k'},
      });
      expect(fixture.socket.dequeue()['result'], 1);
    }
    await fixture.bridge.close();
  });

  test('a guest does not get the result of others', () async {
    final fixture = BridgeFixture();
    int runs = 0;
    fixture.bridge.task('action://pay', (Json params, HostCall call) {
      return call.once(() => runs += 1);
    });
    await fixture.openSession();
    // The second one repeats the call after the session was lost.
    final runsOf = <Json, int>{
      <String, Object?>{'session': 's-1'}: 1,
      <String, Object?>{'session': 's-2'}: 1,
      _guest('s-1', 'c-2', 'p1'): 2,
      _guest('s-1', 'c-3', 'p1'): 2,
      _guest('s-1', 'c-3', 'p2'): 3,
      _guest('s-2', 'c-2', 'p1'): 4,
      _guest('s-1', 'c-2'): 5,
      <String, Object?>{'session': 's-2', 'user': 'ada'}: 6,
    };
    for (final caller in runsOf.keys) {
      await fixture.receive(_task('1', key: 'k', caller: caller));
      expect(fixture.socket.dequeue()['result'], runsOf[caller]);
    }
    await fixture.bridge.close();
  });

  test('a host continues its work when the server restarts', () async {
    final fixture = BridgeFixture(capabilities: const <String>['resume']);
    final work = Completer<Object?>();
    final running = <HostCall>[];
    fixture.bridge.task('action://pay', (Json params, HostCall call) {
      running.add(call);
      return call.once(() => work.future);
    });
    await fixture.openSession();
    await fixture.receive(_task('1', key: 'k', seq: 1));
    await fixture.loseConnection();
    await fixture.resumeSession(0, <String, Object?>{'restarted': true});
    fixture.socket.sent.clear();
    expect(running.first.cancellation.isCancelled, false);
    work.complete(7);
    await pumpEventQueue();
    final response = fixture.socket.dequeue();
    expect(response['id'], '1');
    expect(response['result'], 7);
    await fixture.bridge.close();
  });

  test('a key of another session is one of the same call', () async {
    final results = IdempotencyResults(ManualClock());
    Future<Object?> run(String session, String content, int result) {
      return results.run(HostKey('k', session, content), () => result);
    }

    expect(await run('s-1', 'a', 1), 1);
    expect(await run('s-1', 'b', 2), 1);
    expect(await run('s-2', 'a', 3), 1);
    expect(await run('s-3', 'c', 4), 4);
    expect(await run('s-1', 'a', 5), 5);
  });

  test('a host that declines can be asked again', () async {
    final results = IdempotencyResults(ManualClock());
    const key = HostKey('k', '');
    int declined = 0;
    try {
      await results.run(key, () => throw DeclinedException());
    } on DeclinedException {
      declined += 1;
    }
    expect(declined, 1);
    expect(await results.run(key, () => 2), 2);
    expect(await results.run(key, () => 3), 2);
  });

  test('results are limited in number, bytes and time', () async {
    final clock = ManualClock();
    final results = IdempotencyResults(clock);
    int runs = 0;
    Future<bool> isStored(String key, [Object? result]) async {
      final before = runs;
      await results.run(HostKey(key, 's-1'), () {
        runs += 1;
        return result;
      });
      return runs == before;
    }

    for (int key = 0; key <= IdempotencyResults.maxCount; key += 1) {
      expect(await isStored('$key'), false);
    }
    expect(await isStored('1'), true);
    expect(await isStored('256'), true);
    expect(await isStored('0'), false);
    clock.advance(IdempotencyResults.lifetime - 1);
    expect(await isStored('256'), true);
    clock.advance(1);
    expect(await isStored('256'), false);
    final half = 'x'.padLeft(IdempotencyResults.maxBytes ~/ 2 - 6, 'x');
    expect(await isStored('a', half), false);
    expect(await isStored('b', half), false);
    expect(await isStored('a'), true);
    expect(await isStored('b'), true);
    expect(await isStored('c', 1), false);
    expect(await isStored('b'), true);
  });

  test('a result that is too large is an error', () async {
    final results = IdempotencyResults(ManualClock());
    final large = 'x'.padLeft(IdempotencyResults.maxBytes, 'x');
    await results.run(const HostKey('other', ''), () => 1);
    for (final result in <Object?>[large, 1]) {
      int code = 0;
      try {
        await results.run(const HostKey('a', ''), () => result);
      } on BridgeException catch (error) {
        code = error.code;
      }
      expect(code, ErrorCode.tooLarge);
      code = 0;
      try {
        await results.run(const HostKey('b', ''), () {
          throw ApplicationException(7, large);
        });
      } on BridgeException catch (error) {
        code = error.code;
      }
      expect(code, ErrorCode.tooLarge);
    }
    expect(await results.run(const HostKey('other', ''), () => 2), 1);
  });

  test('a result is stored as it is sent', () async {
    final results = IdempotencyResults(ManualClock());
    final result = <Object?>[1];
    final first = await results.run(const HostKey('k', ''), () => result);
    result.add(2);
    final second = await results.run(const HostKey('k', ''), () => 7);
    expect(difference(<Object?>[1], first), null);
    expect(difference(<Object?>[1], second), null);
    int code = 0;
    try {
      await results.run(const HostKey('l', ''), () => <int>{1});
    } on BridgeException catch (error) {
      code = error.code;
    }
    expect(code, ErrorCode.internal);
  });
}
