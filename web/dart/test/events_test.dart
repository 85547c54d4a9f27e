import 'package:test/test.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/registrations.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/transcript_matcher.dart';

Json _event(Object? data) {
  return <String, Object?>{
    'method': 'event',
    'params': <String, Object?>{
      'topic': 'cart.changed',
      'data': data,
      'at': 3,
    },
  };
}

void main() {
  test('a topic is subscribed to once in each session', () async {
    final fixture = BridgeFixture();
    final received = <Object?>[];
    fixture.bridge.subscribe(<String>['cart.*'], (BridgeEvent event) {
      received.add(event.data);
    });
    final stream = fixture.bridge.events(<String>['cart.*']);
    final listening = stream.listen((BridgeEvent event) {
      received.add(event.at);
    });
    await fixture.openSession();
    final subscribe = fixture.socket.dequeue();
    expect(subscribe['method'], 'events.subscribe');
    expect(fixture.socket.sent.isEmpty, true);
    await fixture.receive(responseTo(subscribe, <String, Object?>{}));
    await fixture.receive(_event(2));
    expect(difference(<Object?>[2, 3], received), null);
    await listening.cancel();
    await fixture.loseConnection(4100);
    await fixture.openSession();
    final again = objectOf(fixture.socket.dequeue()['params']);
    expect(difference(<Object?>['cart.*'], again['topics']), null);
    await fixture.bridge.close();
  });

  test('a client asks for the clients of its session', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final asking = fixture.bridge.clients();
    final request = fixture.socket.dequeue();
    expect(request['method'], 'session.clients');
    await fixture.receive(
      responseTo(request, <String, Object?>{
        'clients': <Object?>[
          <String, Object?>{'client': 'c-1', 'name': 'shell'},
          <String, Object?>{'client': 'c-2', 'guest': true, 'away': true},
        ],
      }),
    );
    final clients = await asking;
    expect(clients.length, 2);
    expect(clients[0].name, 'shell');
    expect(clients[0].isGuest, false);
    expect(clients[1].client, 'c-2');
    expect(clients[1].isGuest, true);
    expect(clients[1].isAway, true);
    await fixture.bridge.close();
  });

  test('a client publishes events, and learns who has published', () async {
    final fixture = BridgeFixture();
    await fixture.openSession();
    final publishing = fixture.bridge.publish(
      'cart.changed',
      <String, Object?>{'count': 1},
      2,
    );
    final request = fixture.socket.dequeue();
    expect(request['method'], 'events.publish');
    final wanted = <String, Object?>{
      'topic': 'cart.changed',
      'data': <String, Object?>{'count': 1},
      'retain': 2,
    };
    expect(difference(wanted, request['params']), null);
    await fixture.receive(
      responseTo(request, <String, Object?>{'delivered': 2, 'waiting': 1}),
    );
    final receipt = await publishing;
    expect(difference(<Object?>[2, 1], <Object?>[
      receipt.delivered,
      receipt.waiting,
    ]), null);
    final clearing = fixture.bridge.clearRetained('cart.changed');
    final cleared = fixture.socket.dequeue();
    expect(cleared['method'], 'events.publish');
    final noData = <String, Object?>{'topic': 'cart.changed', 'clear': true};
    expect(difference(noData, cleared['params']), null);
    await fixture.receive(
      responseTo(cleared, <String, Object?>{'delivered': 0, 'waiting': 0}),
    );
    await clearing;
    final publishers = <Object?>[];
    fixture.bridge.subscribe(<String>['cart.*'], (BridgeEvent event) {
      publishers.add(event.client);
    });
    final event = _event(1);
    objectOf(event['params'])['client'] = 'c-7';
    await fixture.receive(event);
    await fixture.receive(_event(2));
    expect(difference(<Object?>['c-7', null], publishers), null);
    await fixture.bridge.close();
  });

  test('a result that does not fit the route table is reported', () async {
    final fixture = BridgeFixture();
    final reported = <String>[];
    final listening = fixture.bridge.errors.listen((BridgeException error) {
      reported.add('${error.kind} ${error.message}');
    });
    await fixture.openSession();
    await fixture.receive(<String, Object?>{
      'method': 'event',
      'params': <String, Object?>{
        'topic': 'route.invalidResult',
        'data': <String, Object?>{
          'uri': 'action://share',
          'errors': <Object?>[
            <String, Object?>{'path': '\$.result', 'message': 'is wrong'},
          ],
        },
        'at': 3,
      },
    });
    expect(reported.length, 1);
    expect(reported.first.startsWith('invalidResult '), true);
    expect(reported.first.contains('\$.result: is wrong'), true);
    await listening.cancel();
    await fixture.bridge.close();
  });

  test('a removed handler is not called any more', () async {
    final fixture = BridgeFixture();
    final received = <Object?>[];
    final removed = fixture.bridge.subscribe(<String>['cart.*'], (
      BridgeEvent event,
    ) {
      received.add('removed');
    });
    await fixture.openSession();
    final subscribe = fixture.socket.dequeue();
    // The server has not confirmed the subscription yet.
    final cancelled = fixture.observeCompletion(removed.cancel());
    await fixture.receive(_event(1));
    expect(received.isEmpty, true);
    // A new handler keeps the subscription on the server.
    fixture.bridge.subscribe(<String>['cart.*'], (BridgeEvent event) {
      received.add(event.data);
    });
    await fixture.receive(responseTo(subscribe, <String, Object?>{}));
    expect(cancelled.isOver, true);
    await fixture.receive(_event(2));
    expect(difference(<Object?>[2], received), null);
    expect(fixture.socket.sent.isEmpty, true);
    await fixture.bridge.close();
  });

  test('a handler that another one removes is not called', () async {
    final fixture = BridgeFixture();
    final received = <Object?>[];
    Registration? other;
    fixture.bridge.subscribe(<String>['cart.*'], (BridgeEvent event) {
      received.add(1);
      other?.cancel().ignore();
    });
    other = fixture.bridge.subscribe(<String>['cart.changed'], (
      BridgeEvent event,
    ) {
      received.add(2);
    });
    await fixture.openSession();
    for (int count = 0; count < 2; count += 1) {
      final subscribe = fixture.socket.dequeue();
      await fixture.receive(responseTo(subscribe, <String, Object?>{}));
    }
    await fixture.receive(_event(1));
    final unsubscribe = fixture.socket.dequeue();
    expect(unsubscribe['method'], 'events.unsubscribe');
    await fixture.receive(_event(2));
    expect(difference(<Object?>[1, 1], received), null);
    await fixture.bridge.close();
  });
}
