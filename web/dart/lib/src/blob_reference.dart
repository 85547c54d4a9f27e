import 'codes.dart';
import 'failures.dart';
import 'values.dart';

/// A reference to data on the server, which calls carry in its place: it can be
/// part of parameters, results and events.
final class BlobReference {
  BlobReference(
    this.id, {
    required this.size,
    required this.type,
    required this.sha256,
    this.name,
  });

  /// Reads a reference from parameters, a result or an event. Throws an
  /// `InvalidParametersException` for any other value.
  factory BlobReference.of(Object? value) {
    final members = objectOf(value);
    final id = stringOf(members[r'$blob']);
    final size = intOf(members['size']);
    final type = stringOf(members['type']);
    final sha256 = stringOf(members['sha256']);
    if (id == null ||
        !RegExp(r'^[\w-]{22}$').hasMatch(id) ||
        size == null ||
        size < 0 ||
        type == null ||
        sha256 == null) {
      throw failure(
        ErrorCode.invalidParams,
        r'The value is no reference to a blob: an object with $blob, size, '
        'type and sha256',
      );
    }
    return BlobReference(
      id,
      size: size,
      type: type,
      sha256: sha256,
      name: stringOf(members['name']),
    );
  }

  /// The id of the blob in its session.
  final String id;

  /// The number of bytes.
  final int size;

  /// The media type, such as `image/jpeg`.
  final String type;

  /// The digest of the data, in hexadecimal digits.
  final String sha256;

  /// The name of the file; null if it was none.
  final String? name;

  /// The form in messages.
  Json toJson() {
    return withoutNulls(<String, Object?>{
      r'$blob': id,
      'size': size,
      'type': type,
      'sha256': sha256,
      'name': name,
    });
  }
}
