import 'package:test/test.dart';
import 'package:waybridge/src/machine.dart';
import 'package:waybridge/src/states.dart';

void main() {
  test('a state changes along its table, and in no other way', () {
    final life = Machine<LinkState, LinkEvent>(linkStart, linkTable);
    expect(life.can(LinkEvent.entered), false);
    bool isRefused = false;
    try {
      life.fire(LinkEvent.entered);
    } on StateError {
      isRefused = true;
    }
    expect(isRefused, true);
    life.fire(LinkEvent.opens);
    life.fire(LinkEvent.entered);
    expect(life.state == LinkState.open, true);
    expect(shownStates[life.state] == BridgeState.open, true);
    life.fire(LinkEvent.ended);
    for (final event in LinkEvent.values) {
      expect(life.can(event), false);
    }
  });
}
