import 'cancellation.dart';
import 'clock.dart';
import 'values.dart';

/// How a page enters the stack; the names are those of the protocol.
enum PageStyle {
  push,
  present,
  replace,
  root,
  popTo,
  dismissThenPush,
  tab,
}

/// Options of a call. The server chooses what is not given.
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

  /// Presentation data, such as `animated`; for `open` and `invoke`.
  final Json? exts;

  /// How an opened page enters the stack; default: the style of the route.
  final PageStyle? style;

  /// The id of the page that opens this page.
  final String? from;

  /// Idempotency key of 1 to 128 bytes: the session makes one call for each
  /// key; repeated calls return its result. If the session is lost, the client
  /// sends a call with a key again.
  final String? key;

  /// Time within which the page must be shown or the task must return.
  final Duration? timeout;

  /// Cancels the call, which then throws a `CancelledException`. If the page is
  /// already shown, it closes, and the call completes with the outcome
  /// `cancelled`. Without a connection this happens after a second.
  final Cancellation? cancellation;

  /// Receives each progress value. For an opened page the first one is
  /// `{opened: {page}}`.
  final void Function(Object? value)? onProgress;
}

/// A session to join.
final class Join {
  const Join(this.session, this.token);

  /// The session's id.
  final String session;

  /// Its `joinToken`, or the token of an invitation.
  final String token;
}

/// When to reconnect after a connection was lost.
final class ReconnectOptions {
  const ReconnectOptions({
    this.minDelay = const Duration(milliseconds: 500),
    this.maxDelay = const Duration(seconds: 30),
    this.attempts,
  });

  /// Delay before the second attempt, doubled before each further one. Half of
  /// a delay is random.
  final Duration minDelay;

  /// The longest delay.
  final Duration maxDelay;

  /// Number of consecutive failures after which the bridge closes; null: no
  /// limit.
  final int? attempts;
}

/// How a dead connection is detected.
final class PingOptions {
  const PingOptions({
    this.after = const Duration(seconds: 25),
    this.timeout = const Duration(seconds: 10),
  });

  /// Time without a message after which the client sends a ping.
  final Duration after;

  /// Time without a response after which the client reconnects.
  final Duration timeout;
}

/// How a bridge connects, and the identity of its client.
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

  /// The name of the client.
  final String name;

  /// The version of the client; route tables can depend on it.
  final String version;

  /// The platform, such as `android`.
  final String? platform;

  /// Returns the token that authenticates the client; called before each
  /// connection that opens a session, and before the token expires.
  final Future<String> Function()? token;

  /// Returns the session to join; called before each such connection.
  final Future<Join> Function()? join;

  /// The id of the page in which this client runs.
  final String? page;

  /// Null: the client does not reconnect.
  final ReconnectOptions? reconnect;

  /// Null: the client sends no pings.
  final PingOptions? ping;

  /// Whether the session is resumed after a lost connection.
  final bool canResume;

  /// Time within which a new connection must have its session.
  final Duration connectTimeout;

  /// Maximum number of calls that wait for a connection.
  final int queueCount;

  /// Maximum size of the waiting calls in bytes.
  final int queueBytes;

  /// A clock for tests.
  final Clock? clock;
}
