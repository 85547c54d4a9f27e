import 'values.dart';

/// The access of this client to the blobs of its session, which are sent and
/// fetched with HTTP requests to `/blobs`.
final class BlobAccess {
  BlobAccess(this._members);

  final Json _members;

  /// The token of the requests. It is valid until the client leaves.
  String get token => stringOf(_members['token']) ?? '';

  /// The largest blob, in bytes.
  int get maxBlob => intOf(_members['maxBlob']) ?? 0;

  /// The number of blobs that the session may have.
  int get maxBlobs => intOf(_members['maxBlobs']) ?? 0;

  /// The bytes that all blobs of the session may have.
  int get maxBlobBytes => intOf(_members['maxBlobBytes']) ?? 0;

  /// How long an unused blob is kept.
  Duration get blobExpiry => _duration('blobExpiryMs');

  /// How long an upload that makes no progress is kept.
  Duration get uploadExpiry => _duration('uploadExpiryMs');

  Duration _duration(String name) {
    return Duration(milliseconds: intOf(_members[name]) ?? 0);
  }
}
