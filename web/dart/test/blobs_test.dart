import 'dart:async';

import 'package:test/test.dart';
import 'package:waybridge/src/blob_download.dart';
import 'package:waybridge/src/blob_reference.dart';
import 'package:waybridge/src/blob_upload.dart';
import 'package:waybridge/src/cancellation.dart';
import 'package:waybridge/src/errors.dart';

import 'support/blob_fixture.dart';

void main() {
  test('bytes are sent in parts, and fetched', () async {
    final fixture = await openBlobs();
    final bytes = <int>[1, 2, 3, 4, 5];
    final progress = <String>[];
    final sent = await fixture.result(
      fixture.blobs.upload(
        bytes,
        options: UploadOptions(
          type: 'image/png',
          name: 'sea.png',
          partSize: 2,
          onProgress: (int loaded, int? total) {
            progress.add('$loaded of $total');
          },
        ),
      ),
    );
    final reference = sent as BlobReference;
    expect(reference.toJson(), <String, Object?>{
      r'$blob': 'x1Jc0WqB7mT4kZ9sVdR2ug',
      'size': 5,
      'type': 'image/png',
      'sha256': 'ab12',
      'name': 'sea.png',
    });
    expect(progress, <String>['2 of 5', '4 of 5', '5 of 5']);
    expect(fixture.server.log, <String>[
      'POST  ?0',
      'PATCH 0 ?0',
      'PATCH 2 ?0',
      'PATCH 4 ?1',
    ]);
    expect(fixture.server.tokens.length, 1);
    expect(await fixture.result(fixture.blobs.open(reference)), bytes);
    const part = DownloadOptions(start: 1, end: 3);
    final fetched = await fixture.result(
      fixture.blobs.open(reference, options: part),
    );
    expect(fetched, <int>[2, 3]);
    final removed = fixture.blobs.remove(reference);
    await fixture.settle(fixture.bridge.observeCompletion(removed));
    final gone = await fixture.end(fixture.blobs.open(reference));
    expect(gone.error is RouteNotFoundException, true);
    await fixture.bridge.bridge.close();
  });

  test('an upload continues after the last part that has arrived', () async {
    final fixture = await openBlobs();
    final server = fixture.server;
    // The start has no response, the first part has arrived, and the second
    // one has not.
    server.failures.addAll(<int>[0, 200, 1, 200, 0, 503]);
    final sent = await fixture.result(
      fixture.blobs.upload(
        <int>[1, 2, 3],
        options: const UploadOptions(partSize: 2),
      ),
    );
    final reference = sent as BlobReference;
    expect(reference.size, 3);
    expect(server.blobs[reference.id], <int>[1, 2, 3]);
    expect(server.log, <String>[
      'POST  ?0',
      'POST  ?0',
      'PATCH 0 ?0',
      'HEAD',
      'PATCH 2 ?1',
      'HEAD',
      'HEAD',
      'PATCH 2 ?1',
    ]);
    await fixture.bridge.bridge.close();
  });

  test('a stream is read no faster than it is sent', () async {
    final fixture = await openBlobs();
    final server = fixture.server;
    final data = StreamController<List<int>>();
    final held = Completer<void>();
    server.held = held;
    server.heldMethod = 'PATCH';
    final sent = fixture.bridge.observe(
      fixture.blobs.uploadStream(
        data.stream,
        options: const UploadOptions(partSize: 2),
      ),
    );
    data.add(<int>[1, 2, 3]);
    data.add(<int>[4, 5]);
    await fixture.settle(sent);
    expect(data.isPaused, true);
    server.held = null;
    server.failures.addAll(<int>[200, 200, 1]);
    held.complete();
    unawaited(data.close());
    await fixture.settle(sent);
    final reference = sent.result as BlobReference;
    expect(server.blobs[reference.id], <int>[1, 2, 3, 4, 5]);
    await fixture.bridge.bridge.close();
  });

  test('data that cannot be read is not cut off', () async {
    final fixture = await openBlobs();
    final data = StreamController<List<int>>();
    data.add(<int>[1, 2, 3]);
    data.addError(StateError('no disk'));
    unawaited(data.close());
    final sent = await fixture.end(
      fixture.blobs.uploadStream(
        data.stream,
        options: const UploadOptions(partSize: 2),
      ),
    );
    final error = sent.error;
    expect(error is BridgeException && error.code == -32603, true);
    expect('$error'.contains('no disk'), true);
    await pumpEventQueue();
    expect(fixture.server.log, <String>['POST  ?0', 'PATCH 0 ?0', 'DELETE']);
    expect(fixture.server.blobs.isEmpty, true);
    await fixture.bridge.bridge.close();
  });

  test('errors that another attempt cannot change are not repeated', () async {
    final fixture = await openBlobs();
    final server = fixture.server;
    final reference = BlobReference.of(server.store(<int>[1, 2]));
    server.failures.addAll(<int>[413]);
    final large = await fixture.end(fixture.blobs.upload(<int>[1]));
    expect(large.code, 2413);
    expect(server.log, <String>['POST  ?0']);
    // The token is not known any more: the next one is used.
    server.failures.addAll(<int>[401]);
    expect(await fixture.result(fixture.blobs.open(reference)), <int>[1, 2]);
    expect(server.tokens.length, 2);
    server.log.clear();
    server.failures.addAll(<int>[0, 0, 0, 0, 0, 0, 0, 0, 0]);
    final silent = await fixture.end(fixture.blobs.open(reference));
    expect(silent.code, 2503);
    expect(server.log.length, 9);
    for (final value in <Object?>[
      null,
      <String, Object?>{r'$blob': 'short', 'size': 1},
      <String, Object?>{...reference.toJson(), 'size': -1},
    ]) {
      Object? thrown;
      try {
        BlobReference.of(value);
      } catch (error) {
        thrown = error;
      }
      expect(thrown is InvalidParametersException, true);
    }
    await fixture.bridge.bridge.close();
  });

  test('a cancelled upload is removed, a cancelled download ends', () async {
    final fixture = await openBlobs();
    final server = fixture.server;
    final cancellation = Cancellation();
    final held = Completer<void>();
    server.held = held;
    server.heldMethod = 'PATCH';
    final upload = fixture.bridge.observe(
      fixture.blobs.upload(
        <int>[1, 2, 3],
        options: UploadOptions(
          partSize: 2,
          cancellation: cancellation,
        ),
      ),
    );
    await fixture.settle(upload);
    expect(server.log, <String>['POST  ?0', 'PATCH 0 ?0']);
    cancellation.cancel();
    await pumpEventQueue();
    expect(upload.error is CancelledException, true);
    server.held = null;
    held.complete();
    await pumpEventQueue();
    expect(server.log.last, 'DELETE');
    expect(server.blobs.isEmpty, true);
    final reference = BlobReference.of(server.store(<int>[1, 2, 3, 4]));
    final again = Cancellation();
    final ended = await fixture.end(
      fixture.blobs.open(
        reference,
        options: DownloadOptions(
          cancellation: again,
          onProgress: (int loaded, int total) => again.cancel(),
        ),
      ),
    );
    expect(ended.error is CancelledException, true);
    await fixture.bridge.bridge.close();
    expect(fixture.bridge.clock.waiting, 0);
  });
}
