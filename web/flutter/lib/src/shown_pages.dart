import 'dart:async';

import 'cancellation.dart';
import 'codes.dart';
import 'errors.dart';
import 'host_call.dart';
import 'machine.dart';
import 'models.dart';
import 'page_host.dart';
import 'registry.dart';
import 'states.dart';
import 'values.dart';

/// A page that a host of this client shows, or is about to.
final class ShownPage {
  ShownPage(this.page, this.host);

  final BridgePage page;
  final PageHost host;

  /// Ends its opening, when nobody wants it any more.
  final Cancellation cancellation = Cancellation();
  final Machine<PageState, PageEvent> _life = Machine<PageState, PageEvent>(
    pageStart,
    pageTable,
  );
  final Completer<void> _opened = Completer<void>();

  /// Where it stands.
  PageState get state => _life.state;

  /// Its host has shown it, or has not.
  void opened(bool isShown) {
    _life.fire(isShown ? PageEvent.shown : PageEvent.refused);
    if (!_opened.isCompleted) _opened.complete();
  }

  /// Ends its opening, or takes it away when it is shown.
  Future<void> takeAway(String reason, Json exts) async {
    if (!_life.can(PageEvent.close)) return;
    _life.fire(PageEvent.close);
    cancellation.cancel();
    await _opened.future;
    if (_life.state != PageState.leaving) return;
    try {
      await host.close(page, reason, exts);
    } catch (error) {
      throw hostFailure(error);
    } finally {
      _life.fire(PageEvent.closed);
    }
  }
}

/// The pages that the hosts of this client show now.
final class ShownPages {
  ShownPages(this._hosts);

  final Registry<PageHost> _hosts;

  /// By id, those still opening included.
  final Map<String, ShownPage> _pages = <String, ShownPage>{};

  /// Pages that were closed during a comparison with the server's picture,
  /// before they were shown again; null while there is none.
  Set<String>? _gone;

  /// One that is shown, or opening.
  ShownPage? find(String id) => _pages[id];

  /// Whether there is none.
  bool get isEmpty => _pages.isEmpty;

  /// The ids of the pages that are shown; those that are opening do not lie on
  /// the server's stack.
  List<String> get shown {
    return _pages.values
        .where((ShownPage page) => page.state == PageState.open)
        .map((ShownPage page) => page.page.id)
        .toList();
  }

  /// Opens a page as the server asks for it, by the params of `page.open`.
  Future<void> open(Json params, HostCall call) {
    final page = _read(params['page']);
    return _open(page, _hosts.find(chosenHost(params['host'])), call);
  }

  /// Closes one as the server asks for it. Of a page that is gone already it is
  /// true that it is closed.
  Future<void> close(String id, String reason, Json exts) async {
    final shown = _pages.remove(id);
    if (shown == null) {
      // It may be about to be shown again.
      _gone?.add(id);
      return;
    }
    await shown.takeAway(reason, exts);
  }

  /// Gives a page that is shown already to its host, where there is one: by
  /// default the last registered of the page's scheme.
  void adopt(BridgePage page, PageHost? host) {
    final own = host ?? _hosts.ofScheme(schemeOf(page.uri));
    if (own == null) return;
    final shown = ShownPage(page, own);
    shown.opened(true);
    _pages[page.id] = shown;
  }

  /// Tells its host that a page is on top again.
  Future<void> resume(String id) async {
    final shown = _pages[id];
    if (shown != null) await shown.host.resumed(shown.page);
  }

  /// The session is gone, and its pages with it. Gives them: they are to be
  /// taken away.
  List<ShownPage> clear() {
    final lost = _pages.values.toList();
    // A new session may give their ids to its own pages.
    _pages.clear();
    _gone = null;
    return lost;
  }

  /// Compares the pages that are shown with the server's picture, after a
  /// restart of the server: what is missing is shown again, what is gone there
  /// is taken away. [ask] is `page.sync`, [failed] is told of each page that
  /// could not be shown again, or taken away.
  Future<void> sync(
    Future<Json> Function(Json params) ask,
    void Function(Object cause) failed,
    HostCall Function() restoring,
  ) async {
    // One that a restart came upon would go by a picture that is no more.
    final gone = <String>{};
    _gone = gone;
    final picture = await ask(<String, Object?>{'pages': shown});
    for (final id in textsOf(picture['closed'])) {
      try {
        await close(id, 'failed', <String, Object?>{});
      } on BridgeError catch (error) {
        failed(error);
      }
    }
    final lost = <String>[];
    for (final each in listOf(picture['open'])) {
      final asked = objectOf(each);
      final page = _read(asked['page']);
      if (!identical(gone, _gone)) return;
      if (_pages.containsKey(page.id) || gone.contains(page.id)) continue;
      try {
        final host = _hosts.find(chosenHost(asked['host']));
        await _open(page, host, restoring());
      } on BridgeError catch (error) {
        lost.add(page.id);
        failed(error);
      }
    }
    if (!identical(gone, _gone)) return;
    _gone = null;
    if (lost.isEmpty) return;
    await ask(<String, Object?>{'pages': shown, 'failed': lost});
  }

  Future<void> _open(BridgePage page, PageHost? host, HostCall call) async {
    if (host == null) {
      throw failure(
        ErrorCode.hostAbsent,
        'this client shows no ${page.uri}',
      );
    }
    final shown = ShownPage(page, host);
    final cancellation = call.cancellation;
    void cancel() => shown.cancellation.cancel(cancellation.reason);
    cancellation.addListener(cancel);
    _pages[page.id] = shown;
    try {
      await host.open(page, call.within(shown.cancellation));
    } catch (error) {
      _forget(shown);
      shown.opened(false);
      throw cancellation.isCancelled ? cancelledError() : hostFailure(error);
    } finally {
      cancellation.removeListener(cancel);
    }
    shown.opened(true);
    if (!cancellation.isCancelled) return;
    // Nobody waits for this page any more: left alone it would stay in sight
    // without being in the stack.
    if (_forget(shown)) await shown.takeAway('cancelled', <String, Object?>{});
    throw cancelledError();
  }

  bool _forget(ShownPage shown) {
    final id = shown.page.id;
    if (!identical(_pages[id], shown)) return false;
    _pages.remove(id);
    return true;
  }

  BridgePage _read(Object? json) {
    final page = BridgePage(objectOf(json));
    if (page.id != '' && page.uri != '') return page;
    throw failure(
      ErrorCode.invalidParams,
      'page.open needs a page with id and uri',
    );
  }
}
