import 'package:test/test.dart';
import 'package:waybridge/src/state_machine.dart';
import 'package:waybridge/src/states.dart';

void main() {
  test('a state changes only as its table allows', () {
    final life = StateMachine<LinkState, LinkEvent>(linkStart, linkTable);
    expect(life.canApply(LinkEvent.entered), false);
    bool isRefused = false;
    try {
      life.apply(LinkEvent.entered);
    } on StateError {
      isRefused = true;
    }
    expect(isRefused, true);
    life.apply(LinkEvent.opens);
    life.apply(LinkEvent.entered);
    expect(life.state == LinkState.open, true);
    expect(shownStates[life.state] == BridgeState.open, true);
    life.apply(LinkEvent.ended);
    for (final event in LinkEvent.values) {
      expect(life.canApply(event), false);
    }
  });
}
