import 'package:flutter/material.dart';
import 'package:waybridge/channel.dart';
import 'package:waybridge_flutter/waybridge_flutter.dart';

final GlobalKey<NavigatorState> navigator = GlobalKey<NavigatorState>();

void main() {
  WidgetsFlutterBinding.ensureInitialized();
  final bridge = Bridge(
    BridgeOptions(
      url: Uri.parse('ws://127.0.0.1:8080/bridge'),
      name: 'example',
    ),
    connectChannel,
  );
  final host = NavigatorHost(
    bridge: bridge,
    navigator: navigator,
    builders: <String, NavigatorPageBuilder>{
      'review': (BuildContext context, BridgePage page) => Review(page),
    },
    onError: (Object error) => debugPrint('$error'),
  );
  bridge.host('flutter', host);
  bridge.errors.listen((BridgeException error) => debugPrint('$error'));
  BridgeLifecycle(bridge).start();
  runApp(
    BridgeScope(
      bridge: bridge,
      child: MaterialApp(
        navigatorKey: navigator,
        navigatorObservers: <NavigatorObserver>[BridgeNavigatorObserver(host)],
        home: const Home(),
      ),
    ),
  );
}

/// Opens the page that chooses an address.
final class Home extends StatelessWidget {
  const Home({super.key});

  @override
  Widget build(BuildContext context) {
    return Scaffold(
      body: Center(
        child: TextButton(
          onPressed: () => _choose(context),
          child: const Text('Choose an address'),
        ),
      ),
    );
  }

  Future<void> _choose(BuildContext context) async {
    final messenger = ScaffoldMessenger.of(context);
    try {
      final outcome = await BridgeScope.of(context).open(
        'native://address/list',
        params: <String, Object?>{'pick': true},
        options: const CallOptions(timeout: Duration(seconds: 10)),
      );
      final text = outcome.isFinished ? '${outcome.data}' : outcome.outcome;
      messenger.showSnackBar(SnackBar(content: Text(text)));
    } on BridgeException catch (error) {
      messenger.showSnackBar(SnackBar(content: Text(error.message)));
    }
  }
}

/// A page that other clients open as `flutter://review/…`.
final class Review extends StatelessWidget {
  const Review(this.page, {super.key});

  final BridgePage page;

  @override
  Widget build(BuildContext context) {
    return Scaffold(
      appBar: AppBar(title: Text('Review ${page.params['id']}')),
      body: Center(
        child: TextButton(
          onPressed: () =>
              Navigator.of(context).pop(<String, Object?>{'stars': 5}),
          child: const Text('Five stars'),
        ),
      ),
    );
  }
}
