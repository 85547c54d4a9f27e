import 'dart:typed_data';

import 'blob_download.dart';
import 'blob_http.dart';
import 'blob_reference.dart';
import 'blob_requests.dart';
import 'blob_sources.dart';
import 'blob_upload.dart';
import 'bridge.dart';
import 'clock.dart';

/// Sends and fetches data that is too large for a message, such as photos. It
/// goes over HTTP, and calls carry references to it, in parameters, results and
/// events. All clients of the session can fetch it. A request that is cut
/// continues where it ended.
final class Blobs {
  /// [url] is the address of the bridge, if other clients than this one reach
  /// it at another address; default: that of [bridge].
  Blobs(
    Bridge bridge,
    BlobHttp http, {
    Uri? url,
    BlobRetryOptions retry = const BlobRetryOptions(),
    Clock? clock,
  }) : _requests = BlobRequests(
         http,
         () async => (await bridge.authorizeBlobs()).token,
         url ?? bridge.url,
         clock ?? PlatformClock(),
         retry,
       );

  final BlobRequests _requests;

  /// Sends bytes, and returns the reference to them.
  Future<BlobReference> upload(
    List<int> bytes, {
    UploadOptions options = const UploadOptions(),
  }) {
    return BlobUpload(_requests, BytesSource(bytes), options).run();
  }

  /// Sends data that arrives in parts, such as that of a file, and returns the
  /// reference to it. It is read no faster than the server receives it. [size]
  /// is the number of its bytes, if it is known.
  Future<BlobReference> uploadStream(
    Stream<List<int>> data, {
    int? size,
    UploadOptions options = const UploadOptions(),
  }) {
    return BlobUpload(_requests, StreamSource(data, size), options).run();
  }

  /// Fetches the data of a reference, or a part of it.
  Future<Uint8List> open(
    BlobReference reference, {
    DownloadOptions options = const DownloadOptions(),
  }) {
    return BlobDownload(_requests, reference, options).bytes();
  }

  /// Fetches the data of a reference, or a part of it, in parts. The stream is
  /// read no faster than its listener takes it, and can be listened to once.
  Stream<List<int>> download(
    BlobReference reference, {
    DownloadOptions options = const DownloadOptions(),
  }) {
    return BlobDownload(_requests, reference, options).stream;
  }

  /// Removes the data of a reference from the server, before it expires.
  Future<void> remove(BlobReference reference) async {
    await _requests.textOf(
      await _requests.send('DELETE', _requests.urlOf(reference)),
    );
  }
}
