import 'cancellation.dart';
import 'clock.dart';
import 'values.dart';

/// How a page comes onto the stack; the names are the protocol's.
enum PageStyle {
  push,
  present,
  replace,
  root,
  popTo,
  dismissThenPush,
  tab,
}

/// How a call is made. What is not given is the server's choice.
final class CallOptions {
  const CallOptions({
    this.exts,
    this.style,
    this.from,
    this.key,
    this.timeout,
    this.cancellation,
    this.onProgress,
  });

  /// What is no business data, such as `animated`; for `open` and `invoke`.
  final Json? exts;

  /// How an opened page takes its place; the route's own where absent.
  final PageStyle? style;

  /// The id of the page that opens.
  final String? from;

  /// Of 1 to 128 bytes: one call is made under it in the session, however
  /// often it is asked for. It is asked again when the session is lost.
  final String? key;

  /// Until the page is shown, or the task done.
  final Duration? timeout;

  /// Cancels the call; a page that is shown already closes.
  final Cancellation? cancellation;

  /// Gets each progress value; of an opened page first `{opened: {page}}`.
  final void Function(Object? value)? onProgress;
}

/// A session to become a member of.
final class Join {
  const Join(this.session, this.token);

  /// The session's id.
  final String session;

  /// Its `joinToken`, or that of an invitation.
  final String token;
}

/// When to try again after a connection was lost.
final class ReconnectOptions {
  const ReconnectOptions({
    this.minDelay = const Duration(milliseconds: 500),
    this.maxDelay = const Duration(seconds: 30),
    this.attempts,
  });

  /// Before the second try, doubled before each further one. Half of a delay
  /// is left to chance.
  final Duration minDelay;

  /// The longest delay.
  final Duration maxDelay;

  /// Tries that may fail in a row before the bridge closes; null: any number.
  final int? attempts;
}

/// How a dead connection is found out.
final class PingOptions {
  const PingOptions({
    this.after = const Duration(seconds: 25),
    this.timeout = const Duration(seconds: 10),
  });

  /// The silence after which it asks whether the server is there.
  final Duration after;

  /// How long the answer may take.
  final Duration timeout;
}

/// How a bridge connects and who it is.
final class BridgeOptions {
  const BridgeOptions({
    required this.url,
    this.name = 'waybridge-dart',
    this.version = '0.1.0',
    this.platform,
    this.token,
    this.join,
    this.page,
    this.reconnect = const ReconnectOptions(),
    this.ping = const PingOptions(),
    this.canResume = true,
    this.connectTimeout = const Duration(seconds: 10),
    this.queueCount = 256,
    this.queueBytes = 1 << 20,
    this.clock,
  });

  /// The endpoint, such as `ws://127.0.0.1:8080/bridge`.
  final Uri url;

  /// What the client calls itself.
  final String name;

  /// Of the client; releases of routes go by it.
  final String version;

  /// Such as `android`.
  final String? platform;

  /// Tells who the client is; asked before each connection that opens a
  /// session, and before the token expires.
  final Future<String> Function()? token;

  /// The session to become a member of; asked before each such connection.
  final Future<Join> Function()? join;

  /// The id of the page in which this client runs.
  final String? page;

  /// Null: the first connection is the last.
  final ReconnectOptions? reconnect;

  /// Null: it never asks whether the server is there.
  final PingOptions? ping;

  /// Whether the session goes on after a lost connection.
  final bool canResume;

  /// Until a connection has its session.
  final Duration connectTimeout;

  /// How many calls may wait for a connection.
  final int queueCount;

  /// How many bytes of calls may wait for a connection.
  final int queueBytes;

  /// For tests.
  final Clock? clock;
}
