import 'blob_access.dart';
import 'calls.dart';
import 'host_call.dart';
import 'models.dart';
import 'options.dart';
import 'present_client.dart';
import 'stack_edit.dart';
import 'values.dart';

/// The calls of a client of a session.
abstract base class SessionCalls extends CallerBase {
  SessionCalls(Calls calls) : super(calls, null);

  Set<String> _capabilities = <String>{};
  SessionInfo? _capabilitiesSession;

  /// The session; null if none is open.
  SessionInfo? get session;

  /// Calls any method of the protocol. [CallOptions.timeout] applies only in
  /// this client. Of the other options only `cancellation` and `onProgress`
  /// have an effect.
  Future<Object?> request(String method, [Json? params, CallOptions options]);

  /// Returns the clients of the session, in the order in which they joined; to
  /// a guest only the guest itself. Events of `session.*` report changes.
  Future<List<PresentClient>> clients() async {
    final answer = objectOf(await request('session.clients'));
    return listOf(
      answer['clients'],
    ).map((Object? each) => PresentClient(objectOf(each))).toList();
  }

  /// Removes the events of a topic that the server keeps for clients of the
  /// session that subscribe later, as `publish` has requested. No client gets
  /// an event.
  Future<void> clearRetained(String topic) async {
    await request('events.publish', <String, Object?>{
      'topic': topic,
      'clear': true,
    });
  }

  /// Gets a token for HTTP requests to `/blobs`, where data is sent that is too
  /// large for a message, and the limits there.
  Future<BlobAccess> authorizeBlobs() async {
    return BlobAccess(objectOf(await request('blobs.authorize')));
  }

  /// Returns which routes match a URI, in which order, with which parameters,
  /// and why. It opens nothing.
  Future<Json> explain(String uri, {Json? params}) async {
    final members = withoutNulls(<String, Object?>{
      'uri': uri,
      'params': params,
    });
    return objectOf(await request('router.explain', members));
  }

  /// Delivers a deep link. Completes when the server has accepted it. The
  /// server follows it as soon as a host can open it. [key] is its idempotency
  /// key, because platforms can deliver a deep link twice.
  Future<void> deliver(
    String uri, {
    Json? params,
    Json? exts,
    PageStyle? style,
    String? key,
  }) async {
    final members = withoutNulls(<String, Object?>{
      'uri': uri,
      'params': params,
      'exts': exts,
      'style': style?.name,
      'key': key,
    });
    await request('router.deliver', members);
  }

  /// Delivers a deep link in the form of an `{action, action_url}` map.
  Future<void> deliverAction(
    String action, {
    String? url,
    Json? params,
    Json? exts,
    PageStyle? style,
    String? key,
  }) async {
    final members = withoutNulls(<String, Object?>{
      'action': action,
      'action_url': url,
      'params': params,
      'exts': exts,
      'style': style?.name,
      'key': key,
    });
    await request('router.deliver', members);
  }

  /// Returns the declared routes.
  Future<List<Json>> routes() async {
    return listOf(await request('router.routes')).map(objectOf).toList();
  }

  /// Goes back: one page, [count] pages, [to] a page, to the page under
  /// [before], or to the root. The opener of the lowest page that closes
  /// receives [result], [code] and [message]; the hosts receive [exts].
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
      withoutNulls(<String, Object?>{
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

  /// Closes [page], by default the page in which this client runs, and returns
  /// the result to its opener.
  Future<NavigationChange> finish({
    Object? result,
    String? page,
    int? code,
    String? message,
    Json? exts,
  }) async {
    final answer = await request(
      'navigation.finish',
      withoutNulls(<String, Object?>{
        'page': page,
        'result': _result(result, code, message),
        'exts': exts,
      }),
    );
    return NavigationChange.of(answer);
  }

  /// Sets the result that [page], by default the page in which this client
  /// runs, returns if navigation closes it, such as a swipe. Without [result],
  /// [code] and [message], an earlier one is removed.
  Future<void> setResult({
    Object? result,
    String? page,
    int? code,
    String? message,
  }) async {
    await request(
      'page.setResult',
      withoutNulls(<String, Object?>{
        'page': page,
        'result': _result(result, code, message),
      }),
    );
  }

  /// Returns the stack of the session, bottom first.
  Future<PageStack> stack() async {
    return PageStack(objectOf(await request('navigation.stack')));
  }

  /// Returns the page on the stack with this id, URI or route name that is
  /// nearest to the top.
  Future<BridgePage?> contains(String uri) async {
    final members = <String, Object?>{'uri': uri};
    final page = await request('navigation.contains', members);
    return page == null ? null : BridgePage(objectOf(page));
  }

  /// Removes a range of pages, and opens others in its place, lowest first;
  /// without a range, on top. The stack changes at once when the hosts of all
  /// new pages have agreed; a failure leaves it as it is. No client waits for
  /// the outcomes of the new pages. The hosts of closed pages receive [exts].
  Future<NavigationChange> editStack({
    PageRange? remove,
    List<AddedPage> open = const <AddedPage>[],
    Json? exts,
    String? key,
  }) async {
    final members = withoutNulls(<String, Object?>{
      'remove': remove?.json,
      'open': open.isEmpty ? null : open.map((page) => page.json).toList(),
      'exts': exts,
      'key': key,
    });
    return NavigationChange.of(await request('navigation.edit', members));
  }

  /// Selects a tab: by its index in the table, from 0, or by a reference to its
  /// first page.
  Future<NavigationChange> selectTab({int? index, String? uri}) async {
    final members = withoutNulls(<String, Object?>{'index': index, 'uri': uri});
    return NavigationChange.of(await request('navigation.selectTab', members));
  }

  /// Returns whether the server has a method (`page.call`) or a capability with
  /// this name, or, for a URI, whether a host or handler can open or run it.
  Future<bool> supports(String what) async {
    if (what.contains(':')) return (await canOpen(what)).canOpen;
    final isKnown =
        _capabilitiesSession != null &&
        identical(_capabilitiesSession, session);
    if (!isKnown) {
      final names = <String>{};
      final document = objectOf(await request('rpc.discover'));
      for (final each in listOf(document['methods'])) {
        final name = stringOf(objectOf(each)['name']);
        if (name != null) names.add(name);
      }
      final now = session;
      if (now != null) names.addAll(now.capabilities);
      _capabilities = names;
      _capabilitiesSession = now;
    }
    return _capabilities.contains(what);
  }

  Json? _result(Object? data, int? code, String? message) {
    if (data == null && code == null && message == null) return null;
    return withoutNulls(<String, Object?>{
      'data': data,
      'code': code,
      'message': message,
    });
  }
}
