import 'package:test/test.dart';
import 'package:waybridge/src/cancellation.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/options.dart';

import 'support/bridge_fixture.dart';

/// A bridge with a session that can be resumed.
Future<BridgeFixture> _open() async {
  final fixture = BridgeFixture(capabilities: const <String>['resume']);
  await fixture.openSession();
  return fixture;
}

void main() {
  test('a cancelled call ends without a connection', () async {
    final fixture = await _open();
    final cancellation = Cancellation();
    final options = CallOptions(cancellation: cancellation);
    Future<Object?> open(String uri) {
      return fixture.bridge.open(uri, options: options);
    }

    final task = fixture.observe(
      fixture.bridge.invoke('action://one', options: options),
    );
    final hidden = fixture.observe(open('native://a'));
    final shown = fixture.observe(open('native://b'));
    await pumpEventQueue();
    await fixture.receive(<String, Object?>{
      'seq': 1,
      'method': r'$/progress',
      'params': <String, Object?>{
        'id': fixture.socket.sent.last['id'],
        'value': <String, Object?>{
          'opened': <String, Object?>{'page': 'p1'},
        },
      },
    });
    fixture.socket.end(1006);
    await pumpEventQueue();
    cancellation.cancel();
    fixture.clock.advance(999);
    await pumpEventQueue();
    expect(task.isOver || hidden.isOver || shown.isOver, false);
    fixture.clock.advance(1);
    await pumpEventQueue();
    expect(task.error is CancelledException, true);
    expect(hidden.error is CancelledException, true);
    final outcome = shown.result;
    expect(outcome is Outcome && outcome.outcome == 'cancelled', true);
    // The server gets the cancellations when the network is back.
    await fixture.resumeSession(3);
    for (int count = 0; count < 3; count += 1) {
      expect(fixture.socket.dequeue()['method'], r'$/cancelRequest');
    }
    await fixture.bridge.close();
  });

  test('a cancelled call waits for a connection that is back', () async {
    final fixture = await _open();
    final cancellation = Cancellation();
    final call = fixture.observe(
      fixture.bridge.invoke(
        'action://one',
        options: CallOptions(cancellation: cancellation),
      ),
    );
    await pumpEventQueue();
    cancellation.cancel();
    fixture.clock.advance(5000);
    await pumpEventQueue();
    expect(call.isOver, false);
    // The connection is lost before the response arrives.
    fixture.socket.end(4200);
    await pumpEventQueue();
    fixture.clock.advance(900);
    await fixture.resumeSession(2);
    fixture.clock.advance(5000);
    await pumpEventQueue();
    expect(call.isOver, false);
    fixture.socket.end(1006);
    await pumpEventQueue();
    fixture.clock.advance(1000);
    await pumpEventQueue();
    expect(call.error is CancelledException, true);
    await fixture.bridge.close();
    expect(fixture.clock.waiting, 0);
  });

  test('a listener that another one removes is not called', () {
    final cancellation = Cancellation();
    int calls = 0;
    void removed() {
      calls += 1;
    }

    cancellation.addListener(() => cancellation.removeListener(removed));
    cancellation.addListener(removed);
    cancellation.cancel();
    expect(calls, 0);
  });
}
