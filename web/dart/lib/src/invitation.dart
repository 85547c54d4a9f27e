import 'dart:convert';

import 'codes.dart';
import 'failures.dart';
import 'options.dart';
import 'values.dart';

/// The prefix of the invitation in a fragment. Other parts of the fragment are
/// separated by `&`.
const String _fragmentPrefix = 'waybridge=';

/// Maximum length of an invitation in characters.
const int _maxLength = 8192;

/// The credentials of an invited page: the bridge and session to join, and the
/// token.
final class Invitation {
  const Invitation(this.url, this.session, this.token, [this.frame]);

  /// The URL of the endpoint.
  final String url;
  final String session;
  final String token;

  /// The name under which a page in a frame finds its stored state.
  final String? frame;

  /// Returns the invitation in the fragment of a URL; null if there is none.
  /// Anyone can create a URL: check which bridge [url] names before use.
  static Invitation? inAddress(Uri address) {
    for (final part in address.fragment.split('&')) {
      if (part.startsWith(_fragmentPrefix)) {
        return _decode(part.substring(_fragmentPrefix.length));
      }
    }
    return null;
  }

  /// The session to join, for the options of a bridge.
  Join get join => Join(session, token);

  /// Returns it in the form of the protocol. An app shell sets it as the global
  /// `waybridgeInvitation` of a web view's page.
  Json toJson() {
    return withoutNulls(<String, Object?>{
      'url': url,
      'session': session,
      'token': token,
      'frame': frame,
    });
  }

  /// Returns the URL of a page with this invitation in its fragment, which is
  /// never sent. Keep it out of logs: until it expires, anyone who has it can
  /// join.
  Uri address(Uri page) {
    final bytes = utf8.encode(jsonEncode(toJson()));
    final text = base64Url.encode(bytes).replaceAll('=', '');
    final parts = <String>[];
    for (final part in page.fragment.split('&')) {
      if (part != '' && !part.startsWith(_fragmentPrefix)) parts.add(part);
    }
    parts.add('$_fragmentPrefix$text');
    return page.replace(fragment: parts.join('&'));
  }

  static Invitation _decode(String text) {
    try {
      final units = text.length > _maxLength ? '' : base64Url.normalize(text);
      final json = objectOf(jsonDecode(utf8.decode(base64Url.decode(units))));
      final url = stringOf(json['url']) ?? '';
      final session = stringOf(json['session']) ?? '';
      final token = stringOf(json['token']) ?? '';
      if (url != '' && session != '' && token != '') {
        return Invitation(url, session, token, stringOf(json['frame']));
      }
    } on FormatException {
      // The error is not reported, because a parser's message would quote the
      // text with its token.
    }
    throw failure(
      ErrorCode.invalidParams,
      'The URL has no valid invitation; it needs the strings url, session and '
      'token',
    );
  }
}
