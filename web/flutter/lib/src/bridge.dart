import 'admin.dart';
import 'announcements.dart';
import 'call.dart';
import 'client.dart';
import 'connection.dart';
import 'errors.dart';
import 'invitation.dart';
import 'link.dart';
import 'models.dart';
import 'options.dart';
import 'page_host.dart';
import 'session_calls.dart';
import 'socket.dart';
import 'states.dart';
import 'topics.dart';
import 'values.dart';

/// A client of one session: it calls, shows pages, runs tasks and hears events.
/// It connects when it is made, and again when the connection is lost: then its
/// session goes on, calls and pages and all. Calls may be made at once; they
/// wait for the connection.
final class Bridge extends SessionCalls {
  factory Bridge(BridgeOptions options, Connector connector) {
    return Bridge._(options, Client(options, connector));
  }

  Bridge._(this._options, this._client) : super(_client.duties.calls) {
    _client.link.start();
  }

  final BridgeOptions _options;
  final Client _client;

  /// Where the connection is.
  BridgeState get state => _client.link.shown;

  @override
  SessionInfo? get session => _client.membership.session;

  /// Ends when the session is open, or with why none will open. A session that
  /// goes on keeps its future; after a lost session this is another.
  Future<SessionInfo> get ready => _client.membership.ready;

  /// Each change of the connection.
  Stream<StateChange> get states => _client.states;

  /// What no caller waits for.
  Stream<BridgeError> get errors => _client.errors;

  /// Ends when it will not connect again.
  Future<Close> get closed => _client.closed;

  /// Told before the client's token expires: when, in milliseconds since 1970.
  Stream<int> get expiring => _client.news.expiring;

  /// `version` and `hash` of each other route table.
  Stream<Json> get tables => _client.news.tables;

  /// The ids of pages of this client that are on top again.
  Stream<String> get resumedPages => _client.duties.resumed;

  /// What needs a rule of the policy that allows it by name.
  Admin get admin => Admin(_client);

  @override
  Future<Object?> request(
    String method, [
    Json? params,
    CallOptions options = const CallOptions(),
  ]) {
    return _client.calling.request(
      method,
      params,
      Asking(
        timeout: options.timeout?.inMilliseconds,
        cancellation: options.cancellation,
        onProgress: options.onProgress,
      ),
    );
  }

  /// Puts a page that this client opened by other means on top of the stack, as
  /// its host. [host] is told when it closes; by default the last host of the
  /// URI's scheme is.
  Future<BridgePage> adopt(
    String uri, {
    Json? params,
    PageStyle? style,
    PageHost? host,
  }) async {
    final answer = await request(
      'navigation.adopt',
      given(<String, Object?>{
        'uri': uri,
        'params': params,
        'style': style?.name,
      }),
    );
    final page = BridgePage(objectOf(answer));
    _client.duties.hosting.pages.adopt(page, host);
    return page;
  }

  /// Invites a page into the session: gives the address to load it from. It
  /// joins as a guest, with these rights and no more.
  Future<Uri> invite(
    Uri address, {
    String? page,
    List<String>? hosts,
    List<String>? routes,
    List<String>? groups,
    int? uses,
    Duration? expires,
  }) async {
    final answer = await request(
      'session.invite',
      given(<String, Object?>{
        'page': page,
        'hosts': hosts,
        'routes': routes,
        'groups': groups,
        'uses': uses,
        'expiresMs': expires?.inMilliseconds,
      }),
    );
    final told = objectOf(answer);
    final session = textOf(told['session']) ?? '';
    final token = textOf(told['token']) ?? '';
    final url = _options.url.toString();
    return Invitation(url, session, token, page).address(address);
  }

  /// Shows the pages of a scheme, or those that fit the host's patterns.
  Registration host(String scheme, PageHost host) {
    final duties = _client.duties;
    return duties.announce(duties.hosting.addPages(scheme, host));
  }

  /// Runs the tasks of a URI or pattern, such as `action://share`.
  Registration task(String pattern, TaskHandler handler) {
    final duties = _client.duties;
    return duties.announce(duties.hosting.addTask(pattern, handler));
  }

  /// Answers the server when it calls this client, and others when they call
  /// the page in which this client runs. Gives what takes it back.
  void Function() method(String name, MethodHandler handler) {
    return _client.duties.hosting.addMethod(name, handler);
  }

  /// Hears of some topics: `cart.changed`, or `cart.*` for all that begin so.
  Registration subscribe(List<String> topics, EventHandler handler) {
    return _client.news.subscribe(topics, handler);
  }

  /// The events of some topics, asked for as long as somebody listens.
  Stream<BridgeEvent> events(List<String> topics) {
    return _client.news.events(topics);
  }

  /// The app is looked at again, or the network is back: it asks whether the
  /// connection lives, or connects now where it waits to.
  void wake() {
    final liveness = _client.liveness;
    if (liveness == null) {
      _client.link.hasten();
    } else {
      liveness.wake();
    }
  }

  /// Leaves the session by the server's word (`session.close`), and ends.
  Future<void> leave() async {
    await request('session.close');
    await close();
  }

  /// Ends the connection, and every call with it, for good: the client leaves
  /// its session. Ends when the socket is gone.
  Future<void> close() => _client.link.close();
}
