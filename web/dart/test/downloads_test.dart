import 'dart:async';

import 'package:test/test.dart';
import 'package:waybridge/src/blob_download.dart';
import 'package:waybridge/src/blob_reference.dart';

import 'support/blob_fixture.dart';

void main() {
  test('a download continues where it was cut', () async {
    final fixture = await openBlobs();
    final server = fixture.server;
    final stored = server.store(<int>[1, 2, 3, 4, 5, 6, 7]);
    server.cuts.addAll(<int>[4, 0]);
    server.failures.addAll(<int>[200, 0]);
    final progress = <int>[];
    final fetched = await fixture.result(
      fixture.blobs.open(
        BlobReference.of(stored),
        options: DownloadOptions(
          end: 6,
          onProgress: (int loaded, int total) => progress.add(loaded),
        ),
      ),
    );
    expect(fetched, <int>[1, 2, 3, 4, 5, 6]);
    expect(progress, <int>[2, 4, 6]);
    expect(server.log, <String>[
      'GET bytes=0-5',
      'GET bytes=4-5',
      'GET bytes=4-5',
      'GET bytes=4-5',
    ]);
    await fixture.bridge.bridge.close();
  });

  test('a download is read no faster than its listener takes it', () async {
    final fixture = await openBlobs();
    final server = fixture.server;
    final reference = BlobReference.of(
      server.store(<int>[1, 2, 3, 4, 5, 6, 7, 8]),
    );
    final parts = <List<int>>[];
    final over = Completer<Object?>();
    final subscription = fixture.blobs
        .download(reference)
        .listen(
          (List<int> part) => parts.add(part),
          onError: (Object error) => over.completeError(error),
          onDone: () => over.complete(null),
        );
    subscription.pause();
    final ended = fixture.bridge.observe(over.future);
    await fixture.settle(ended);
    expect(parts.isEmpty && ended.isOver == false, true);
    expect(server.download?.isPaused, true);
    subscription.resume();
    await fixture.settle(ended);
    expect(parts, <List<int>>[
      <int>[1, 2],
      <int>[3, 4],
      <int>[5, 6],
      <int>[7, 8],
    ]);
    // A listener that leaves ends the request.
    final iterator = StreamIterator<List<int>>(
      fixture.blobs.download(reference),
    );
    expect(await fixture.result(iterator.moveNext()), true);
    expect(iterator.current, <int>[1, 2]);
    await iterator.cancel();
    await pumpEventQueue();
    expect(server.log.length, 2);
    await fixture.bridge.bridge.close();
  });
}
