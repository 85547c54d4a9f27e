import 'calls.dart';
import 'host_call.dart';
import 'models.dart';
import 'options.dart';
import 'values.dart';

/// What a client of a session calls.
abstract base class SessionCalls extends CallerBase {
  SessionCalls(Calls calls) : super(calls, null);

  Set<String> _capabilities = <String>{};
  SessionInfo? _asked;

  /// The session, while there is one.
  SessionInfo? get session;

  /// Calls any method of the protocol. [CallOptions.timeout] is this side's
  /// alone here; of the other options only `cancellation` and `onProgress`
  /// count.
  Future<Object?> request(String method, [Json? params, CallOptions options]);

  /// Which routes fit a URI, in what order, with which parameters, and why;
  /// nothing is opened.
  Future<Json> explain(String uri, {Json? params}) async {
    final members = given(<String, Object?>{'uri': uri, 'params': params});
    return objectOf(await request('router.explain', members));
  }

  /// Hands over a link from outside of the app. Ends when the server has it,
  /// which follows it as soon as somebody can open it.
  Future<void> deliver(String uri, {Json? params}) async {
    final members = given(<String, Object?>{'uri': uri, 'params': params});
    await request('router.deliver', members);
  }

  /// Hands over a link in the shape of older servers.
  Future<void> deliverAction(String action, {String? url, Json? params}) async {
    final members = given(<String, Object?>{
      'action': action,
      'action_url': url,
      'params': params,
    });
    await request('router.deliver', members);
  }

  /// The declared routes.
  Future<List<Json>> routes() async {
    return listOf(await request('router.routes')).map(objectOf).toList();
  }

  /// Goes back: one page, [count] pages, [to] a page, to the one under
  /// [before], or to the root. What is given as [result], [code] and [message]
  /// is for the opener of the lowest page that closes; [exts] reach the hosts.
  Future<NavigationChange> back({
    int? count,
    String? to,
    String? before,
    bool root = false,
    Object? result,
    int? code,
    String? message,
    Json? exts,
  }) async {
    final answer = await request(
      'navigation.back',
      given(<String, Object?>{
        'count': count,
        'to': to,
        'before': before,
        'root': root ? true : null,
        'result': _result(result, code, message),
        'exts': exts,
      }),
    );
    return NavigationChange.of(answer);
  }

  /// Closes [page], by default the one in which this client runs, and gives its
  /// opener the result.
  Future<NavigationChange> finish({
    Object? result,
    String? page,
    int? code,
    String? message,
    Json? exts,
  }) async {
    final answer = await request(
      'navigation.finish',
      given(<String, Object?>{
        'page': page,
        'result': _result(result, code, message),
        'exts': exts,
      }),
    );
    return NavigationChange.of(answer);
  }

  /// The pages of the session, bottom first.
  Future<PageStack> stack() async {
    return PageStack(objectOf(await request('navigation.stack')));
  }

  /// The page on the stack with that id, URI or name of its route, nearest to
  /// the top.
  Future<BridgePage?> contains(String uri) async {
    final members = <String, Object?>{'uri': uri};
    final page = await request('navigation.contains', members);
    return page == null ? null : BridgePage(objectOf(page));
  }

  /// Shows a tab: by its number in the table, from 0, or by a reference to its
  /// first page.
  Future<NavigationChange> selectTab({int? index, String? uri}) async {
    final members = given(<String, Object?>{'index': index, 'uri': uri});
    return NavigationChange.of(await request('navigation.selectTab', members));
  }

  /// Whether the server has a method (`page.call`) or a capability of that
  /// name, or, of a URI, whether something opens or runs it now.
  Future<bool> supports(String what) async {
    if (what.contains(':')) return (await canOpen(what)).canOpen;
    if (_asked == null || !identical(_asked, session)) {
      final names = <String>{};
      final document = objectOf(await request('rpc.discover'));
      for (final each in listOf(document['methods'])) {
        final name = textOf(objectOf(each)['name']);
        if (name != null) names.add(name);
      }
      final now = session;
      if (now != null) names.addAll(now.capabilities);
      _capabilities = names;
      _asked = now;
    }
    return _capabilities.contains(what);
  }

  Json? _result(Object? data, int? code, String? message) {
    if (data == null && code == null && message == null) return null;
    return given(<String, Object?>{
      'data': data,
      'code': code,
      'message': message,
    });
  }
}
