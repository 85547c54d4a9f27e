import 'package:test/test.dart';
import 'package:waybridge/src/blobs.dart';

import 'bridge_fixture.dart';
import 'fake_blob_server.dart';
import 'fake_socket.dart';

/// A client with blobs, and its server.
final class BlobFixture {
  final BridgeFixture bridge = BridgeFixture();
  final FakeBlobServer server = FakeBlobServer();
  late final Blobs blobs = Blobs(
    bridge.bridge,
    server,
    clock: bridge.clock,
  );

  /// Responds to requests for tokens and lets time pass, until a future ends.
  Future<void> settle(ObservedFuture observed) async {
    for (int turn = 0; turn < 100 && !observed.isOver; turn += 1) {
      await pumpEventQueue();
      final socket = bridge.socket;
      if (socket.sent.isNotEmpty) {
        final request = socket.dequeue();
        expect(request['method'], 'blobs.authorize');
        final token = <String, Object?>{'token': 'token$turn'};
        socket.receive(responseTo(request, token));
      } else if (server.held == null) {
        bridge.clock.advance(5000);
      }
    }
  }

  Future<ObservedFuture> end(Future<Object?> future) async {
    final observed = bridge.observe(future);
    await settle(observed);
    return observed;
  }

  /// Waits for the result of a future.
  Future<Object?> result(Future<Object?> future) async {
    final observed = await end(future);
    expect(observed.error == null, true);
    return observed.result;
  }
}

/// A client with an open session.
Future<BlobFixture> openBlobs() async {
  final fixture = BlobFixture();
  await fixture.bridge.openSession();
  return fixture;
}
