import 'codes.dart';
import 'encodable.dart';
import 'failures.dart';
import 'values.dart';

/// A URI and the parameters that are not part of it.
final class ExpandedUri {
  const ExpandedUri(this.uri, this.params);

  final String uri;
  final Json? params;
}

final RegExp _parameter = RegExp(r'^:([A-Za-z_][A-Za-z0-9_]*)$');

/// Replaces the placeholders of a URI by parameters, as in the pattern of a
/// route: `native://address/:id`. The used parameters are removed from the
/// returned params. A `*` at the end accepts a list, or a string with slashes.
ExpandedUri expandTemplate(String uri, Json? params) {
  if (uri == '') {
    throw failure(
      ErrorCode.invalidParams,
      'The URI is empty; give one such as "native://address/7"',
    );
  }
  final end = RegExp('[?#]').firstMatch(uri)?.start ?? uri.length;
  final path = uri.substring(0, end);
  final colon = path.indexOf(':') + 1;
  // Without a scheme there is no parameter before the first slash.
  final head = schemeOf(path) == null ? 0 : colon;
  final rest = <String, Object?>{if (params != null) ...params};
  final parts = path.substring(head).split('/');
  final filled = <String>[];
  var isFilled = false;
  final last = parts.length - 1;
  for (int index = 0; index < parts.length; index += 1) {
    final part = parts[index];
    final name = _parameter.firstMatch(part)?.group(1);
    final mayBegin = index > 0 || head > 0;
    if (name != null && mayBegin) {
      filled.add(_segment(uri, name, rest.remove(name), false));
      isFilled = true;
    } else if (part == '*' && index == last && mayBegin) {
      filled.add(_remaining(uri, rest.remove('*')));
      isFilled = true;
    } else {
      filled.add(part);
    }
  }
  if (!isFilled) return ExpandedUri(uri, params);
  final start = path.substring(0, head);
  return ExpandedUri('$start${filled.join('/')}${uri.substring(end)}', rest);
}

String _remaining(String uri, Object? given) {
  if (given is String) {
    if (given == '') return '';
    return given
        .split('/')
        .map((String each) => _segment(uri, '*', each, true))
        .join('/');
  }
  if (given is! List<Object?>) return _segment(uri, '*', given, false);
  return given
      .map((Object? each) => _segment(uri, '*', each, true))
      .join('/');
}

String _segment(String uri, String name, Object? given, bool mayBeEmpty) {
  final isText = given is String || given is num || given is bool;
  final text = isText ? '$given' : '';
  try {
    // It would become other characters in the URI.
    encodable(isText ? given : null, <Object>['params', name], 1);
  } on FormatException catch (cause) {
    throw failure(ErrorCode.invalidParams, cause.message, cause: cause);
  }
  final isEmpty = text == '' && !mayBeEmpty;
  // A segment of dots would change the path.
  if (!isEmpty && text != '.' && text != '..') {
    return Uri.encodeComponent(text);
  }
  throw failure(
    ErrorCode.invalidParams,
    '"$uri" needs the parameter "$name": a number, a boolean, or a string '
    'other than "", "." and ".."',
  );
}
