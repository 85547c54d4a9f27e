import 'codes.dart';
import 'errors.dart';
import 'values.dart';

/// A URI, and the parameters that do not stand in it.
final class Filled {
  const Filled(this.uri, this.params);

  final String uri;
  final Json? params;
}

final RegExp _parameter = RegExp(r'^:([A-Za-z_][A-Za-z0-9_]*)$');

/// Puts parameters into a URI in which names stand for them, as in the pattern
/// of a route: `native://address/:id`. What stands in the URI then is no longer
/// among the parameters. A `*` at the end takes a list, or a text with slashes.
Filled fill(String uri, Json? params) {
  final end = RegExp('[?#]').firstMatch(uri)?.start ?? uri.length;
  final path = uri.substring(0, end);
  final colon = path.indexOf(':') + 1;
  // Without a scheme nothing stands for a parameter before the first slash.
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
  if (!isFilled) return Filled(uri, params);
  final start = path.substring(0, head);
  return Filled('$start${filled.join('/')}${uri.substring(end)}', rest);
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
  final isEmpty = text == '' && !mayBeEmpty;
  // Segments of dots lead elsewhere.
  if (!isEmpty && text != '.' && text != '..') {
    return Uri.encodeComponent(text);
  }
  throw failure(
    ErrorCode.invalidParams,
    '$uri needs the parameter $name: a number, a boolean, or a text other than '
    '"", "." and ".."',
  );
}
