import 'dart:convert';

import 'codes.dart';
import 'errors.dart';
import 'options.dart';
import 'values.dart';

/// The part of a fragment that is the invitation; others may stand beside it,
/// each after a `&`.
const String _mark = 'waybridge=';

/// How many characters of it are read.
const int _longest = 8192;

/// What an invited page comes with: whose bridge it is to join, and by what.
final class Invitation {
  const Invitation(this.url, this.session, this.token, [this.frame]);

  /// Of the endpoint.
  final String url;
  final String session;
  final String token;

  /// By which a page in a frame finds what it has kept.
  final String? frame;

  /// The invitation in the fragment of an address; null where there is none.
  /// Anybody can make an address: whoever takes it looks whose bridge [url] is.
  static Invitation? inAddress(Uri address) {
    for (final part in address.fragment.split('&')) {
      if (part.startsWith(_mark)) return _read(part.substring(_mark.length));
    }
    return null;
  }

  /// The session to join, for the options of a bridge.
  Join get join => Join(session, token);

  /// As the protocol has it: also what a native shell sets as the global
  /// `waybridgeInvitation` of a web view's page.
  Json toJson() {
    return given(<String, Object?>{
      'url': url,
      'session': session,
      'token': token,
      'frame': frame,
    });
  }

  /// The address of a page with this invitation in its fragment, which is never
  /// sent. Keep it out of logs: whoever has it may come, until it expires.
  Uri address(Uri page) {
    final bytes = utf8.encode(jsonEncode(toJson()));
    final text = base64Url.encode(bytes).replaceAll('=', '');
    final parts = <String>[];
    for (final part in page.fragment.split('&')) {
      if (part != '' && !part.startsWith(_mark)) parts.add(part);
    }
    parts.add('$_mark$text');
    return page.replace(fragment: parts.join('&'));
  }

  static Invitation _read(String text) {
    try {
      final units = text.length > _longest ? '' : base64Url.normalize(text);
      final json = objectOf(jsonDecode(utf8.decode(base64Url.decode(units))));
      final url = textOf(json['url']) ?? '';
      final session = textOf(json['session']) ?? '';
      final token = textOf(json['token']) ?? '';
      if (url != '' && session != '' && token != '') {
        return Invitation(url, session, token, textOf(json['frame']));
      }
    } on FormatException {
      // The error is not told, since a parser's own would quote the text, and a
      // token with it.
    }
    throw failure(
      ErrorCode.invalidParams,
      'the address has an invitation that can not be read: it needs the texts '
      'url, session and token; ask for a new one',
    );
  }
}
